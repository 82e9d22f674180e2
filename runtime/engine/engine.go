package engine

import (
	"context"
	"fmt"
	"log/slog"

	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Config is what an engine is made from. The zero value of a field means its
// default.
type Config struct {
	Imports []Import // every host function a guest may import, WASI aside
	Logger  *slog.Logger

	CacheDir       string // where compiled code is kept; empty means nowhere. Trusted: nobody else may write there
	CompileWorkers int    // how many modules compile at once, and on how many cores each; default 1
	MaxModule      int    // bytes of a binary; default 64 MiB

	Defaults Limits // a call's limits where it names none
	Maximum  Limits // what no call may exceed

	MaxInstances int           // live instances of all modules; default 4096
	IdleTrim     time.Duration // an idle instance gives its private pages back; default 10 s
	IdleClose    time.Duration // and is closed; default 5 min

	Now func() time.Time // the guests' wall clock; default time.Now
}

func (c Config) withDefaults() Config {
	c.Defaults = c.Defaults.Or(DefaultLimits())
	c.Maximum = c.Maximum.Or(MaxLimits())
	c.CompileWorkers = or(c.CompileWorkers, 1)
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

// Engine compiles and runs modules. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	log     *slog.Logger
	rt      wazero.Runtime
	cache   wazero.CompilationCache
	compile chan struct{} // a token per module being compiled
	epoch   time.Time     // zero of the guests' monotonic clock

	mu      sync.Mutex
	modules map[string]*loading
	closed  bool
}

// New makes an engine with the given host functions.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{cfg: cfg.withDefaults(), modules: map[string]*loading{}}
	e.log = e.cfg.Logger
	e.compile = make(chan struct{}, e.cfg.CompileWorkers)
	e.epoch = time.Now()

	rc := wazero.NewRuntimeConfig().
		WithDebugInfoEnabled(false).
		WithCustomSections(true).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(e.cfg.Maximum.Memory >> 16))
	if e.cfg.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(e.cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the compilation cache: %w", err)
		}
		e.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	e.rt = wazero.NewRuntimeWithConfig(ctx, rc)
	if err := e.linkImports(ctx); err != nil {
		return nil, fmt.Errorf("link host functions: %w", err)
	}
	return e, nil
}

// Close frees everything. Calls must have ended.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := e.rt.Close(ctx)
	if e.cache != nil {
		if cerr := e.cache.Close(ctx); err == nil {
			err = cerr
		}
	}
	return err
}
