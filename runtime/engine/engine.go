package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/admission"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/engine/internal/link"
	"armature/runtime/internal/rewrite"
)

// Engine loads and runs modules. It is safe for concurrent use.
type Engine struct {
	common
	code         *compile.Service
	offered      link.Offered // by the host, to all but interpreters
	interpreters []*interpreter
	dialects     []*dialect

	stop, stopped chan struct{} // end of the goroutine that looks after idle instances

	mu      sync.Mutex
	modules map[string]*loading
	closing []*Module // released, with calls still running
	closed  bool
}

// New makes an engine with the given host functions.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if b := cfg.Birth; b != nil && len(b.Seed) != 32 {
		return nil, fmt.Errorf("the seed of a birth has 32 bytes, not %d", len(b.Seed))
	}
	e := &Engine{modules: map[string]*loading{}}
	e.cfg, e.clocks = cfg, link.Clocks{Now: cfg.Now, Epoch: time.Now()}
	e.host = call.Host{
		Slots: admission.New(cfg.Slots), Defaults: cfg.Defaults, Maximum: cfg.Maximum,
		ProcessorTime: cfg.ProcessorTime, Log: cfg.Logger,
	}
	e.evict = e.evictOne
	var err error
	if e.memory, err = linear.Open(linear.Method(cfg.Memory)); err != nil {
		return nil, fmt.Errorf("make guest memories: %w", err)
	}
	e.idle = cfg.Account.Work()
	if err := e.start(ctx); err != nil {
		_ = e.free(ctx)
		return nil, err
	}
	if e.idle != nil {
		cfg.Account.Spare(e.giveUp)
	}
	e.stop, e.stopped = make(chan struct{}), make(chan struct{})
	go e.sweepUntil(e.stop, e.stopped)
	return e, nil
}

func (e *Engine) start(ctx context.Context) error {
	var err error
	if e.code, err = compile.Open(ctx, compile.Config{
		Rewrite:  rewrite.Options{Prefix: abi.ReservedPrefix, MaxPages: e.maxPages(), MaxTable: maxTable},
		Compiler: e.cfg.Compiler, Folder: e.cfg.CacheDir, Logger: e.cfg.Logger, Memory: e.idle, Accept: e.accept,
	}); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	e.rt = e.code.Runtime()
	if err := link.Metering(ctx, e.rt); err != nil {
		return fmt.Errorf("link metering: %w", err)
	}
	if err := e.linkImports(ctx); err != nil {
		return fmt.Errorf("link host functions: %w", err)
	}
	if e.dialects, err = newDialects(ctx, e.code, e.cfg.Dialects); err != nil {
		return fmt.Errorf("link dialects: %w", err)
	}
	if e.interpreters, err = newInterpreters(ctx, e.code, e.cfg.Interpreters); err != nil {
		return fmt.Errorf("link interpreters: %w", err)
	}
	return nil
}

// linkImports defines the host modules: WASI, the configured imports, and those of
// dialects. What interpreters import is offered to nobody else.
func (e *Engine) linkImports(ctx context.Context) error {
	all := link.Funcs(e.cfg.Imports)
	for _, d := range e.cfg.Dialects {
		all = append(all, link.Funcs(d.Imports())...)
	}
	wasi := link.WASI(e.clocks)
	e.offered = link.Offer(append(all, wasi...))
	if p := e.cfg.Command; p != nil {
		if err := p.WASI(ctx, e.rt); err != nil {
			return err
		}
	} else {
		all = append(all, wasi...)
	}
	return link.Modules(ctx, e.rt, all)
}

func (e *Engine) maxPages() uint32 { return uint32(e.cfg.Maximum.Memory >> 16) }

// MemoryMethod is how this engine makes and resets memories.
func (e *Engine) MemoryMethod() string { return string(e.memory.Method()) }

// Close refuses new calls, waits for those that run, and frees everything. When
// ctx ends first, what the running calls use stays allocated: freeing memory
// under a guest would end the process.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	pending := make([]*loading, 0, len(e.modules))
	for _, l := range e.modules {
		pending = append(pending, l)
	}
	modules := slices.Clone(e.closing)
	e.mu.Unlock()

	close(e.stop)
	<-e.stopped
	for _, l := range pending {
		if err := wait(ctx, l.done); err != nil {
			return err
		}
		if l.module != nil {
			l.module.retire()
			modules = append(modules, l.module)
		}
	}
	for _, m := range modules {
		if err := wait(ctx, m.freed); err != nil {
			return err
		}
	}
	e.idle.End()
	return e.free(ctx)
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for calls to end: %w", ctx.Err())
	}
}

func (e *Engine) free(ctx context.Context) error {
	var err error
	if e.code != nil {
		err = e.code.Close(ctx)
	}
	return errors.Join(err, e.memory.Close())
}
