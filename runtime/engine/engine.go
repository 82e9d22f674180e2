package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"armature/core/account"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/internal/rewrite"
)

// Config is what an engine is made from. The zero value of a field means its
// default.
type Config struct {
	Imports      []Import      // every host function a guest may import, WASI aside
	Interpreters []Interpreter // what runs modules that are scripts
	Dialects     []Dialect     // what runs modules that are built for another host
	Command      *Command      // makes it an engine for commands; nil: for plugins
	Logger       *slog.Logger

	Compiler  compile.Compiler // nil: this process compiles
	CacheDir  string           // where compiled code is kept; empty means nowhere. Trusted: nobody else may write there
	MaxModule int              // bytes of a binary; default 64 MiB

	Defaults Limits // a call's limits where it names none
	Maximum  Limits // what no call may exceed

	// ProcessorTime has a call end once it has used as much time of processors as its
	// fuel is taken for, be it that it works slower than others. A call that is
	// repeated elsewhere then need not end where it did.
	ProcessorTime bool

	Init Limits // of a module's own initialisation; default 2 s worth of fuel, 6 s on the clock

	Slots        int           // long-running guests at a time; default GOMAXPROCS-1, at least 1
	MaxInstances int           // live instances of all modules; default 4096
	IdleTrim     time.Duration // an idle instance gives its private pages back; default 10 s
	IdleClose    time.Duration // and is closed; default 5 min

	// Account is that of the process's memory, to which is charged what idle instances
	// and snapshots take. What a call takes is charged to the call of its context.
	Account *account.Account // nil: nobody keeps one

	// Memory names how memories are made and reset: scan, pagemap, copy or heap.
	// Empty means the best that works on this system.
	Memory string

	// Birth is what modules are told while they initialise; nil: of each, the
	// moment of its load. Its Seed has 32 bytes.
	Birth *Birth

	Now func() time.Time // the guests' wall clock; default time.Now
}

func (c Config) withDefaults() Config {
	c.Defaults = c.Defaults.Or(DefaultLimits())
	c.Maximum = c.Maximum.Or(MaxLimits())
	c.Maximum.Memory = min(c.Maximum.Memory, 65535<<16)
	c.Maximum.Fuel = min(c.Maximum.Fuel, 1<<42) // what the meter can hold
	c.Maximum.Depth = min(c.Maximum.Depth, rewrite.MaxDepth)
	c.Init = c.Init.Or(Limits{Fuel: 2 * perSecond, Wall: 6 * time.Second}).Or(c.Maximum).Min(c.Maximum)
	c.Slots = or(c.Slots, max(runtime.GOMAXPROCS(0)-1, 1))
	c.MaxModule = or(c.MaxModule, 64<<20)
	c.MaxInstances = or(c.MaxInstances, 4096)
	c.IdleTrim = or(c.IdleTrim, 10*time.Second)
	c.IdleClose = or(c.IdleClose, 5*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Engine loads and runs modules. It is safe for concurrent use.
type Engine struct {
	cfg          Config
	log          *slog.Logger
	code         *compile.Service
	rt           wazero.Runtime           // of the code
	imports      map[ImportName]signature // what the host offers
	interpreters []*interpreter
	dialects     []*dialect
	memory       linear.Maker
	idle         *account.Call // what no call of a guest takes
	admission    *admission
	epoch        time.Time    // zero of the guests' monotonic clock
	live         atomic.Int64 // instances of all modules

	stop, stopped chan struct{} // end of the goroutine that looks after idle instances

	mu      sync.Mutex
	modules map[string]*loading
	closing []*Module // released, with calls still running
	closed  bool
}

// New makes an engine with the given host functions.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{cfg: cfg.withDefaults(), epoch: time.Now(), modules: map[string]*loading{}}
	if b := cfg.Birth; b != nil && len(b.Seed) != 32 {
		return nil, fmt.Errorf("the seed of a birth has 32 bytes, not %d", len(b.Seed))
	}
	e.log = e.cfg.Logger
	e.admission = newAdmission(e.cfg.Slots)
	var err error
	if e.memory, err = linear.Open(linear.Method(e.cfg.Memory)); err != nil {
		return nil, fmt.Errorf("make guest memories: %w", err)
	}
	if err := e.start(ctx); err != nil {
		_ = e.free(ctx)
		return nil, err
	}
	if e.idle = e.cfg.Account.Work(); e.idle != nil {
		e.cfg.Account.Spare(e.giveUp)
	}
	e.stop, e.stopped = make(chan struct{}), make(chan struct{})
	go e.sweepUntil(e.stop, e.stopped)
	return e, nil
}

func (e *Engine) start(ctx context.Context) error {
	var err error
	if e.code, err = compile.Open(ctx, compile.Config{
		Rewrite:  rewrite.Options{Prefix: abi.ReservedPrefix, MaxPages: e.maxPages(), MaxTable: maxTable},
		Compiler: e.cfg.Compiler, Folder: e.cfg.CacheDir, Logger: e.log, Accept: e.accept,
	}); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	e.rt = e.code.Runtime()
	if err := e.linkYield(ctx); err != nil {
		return fmt.Errorf("link metering: %w", err)
	}
	if err := e.linkImports(ctx); err != nil {
		return fmt.Errorf("link host functions: %w", err)
	}
	if err := e.linkDialects(ctx); err != nil {
		return fmt.Errorf("link dialects: %w", err)
	}
	if err := e.linkInterpreters(ctx); err != nil {
		return fmt.Errorf("link interpreters: %w", err)
	}
	return nil
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
