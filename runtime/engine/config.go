package engine

import (
	"log/slog"
	"runtime"
	"time"

	"armature/core/account"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/call"
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
	c.Init = c.Init.Or(Limits{Fuel: 2 * call.PerSecond, Wall: 6 * time.Second}).Or(c.Maximum).Min(c.Maximum)
	c.Slots = call.Or(c.Slots, max(runtime.GOMAXPROCS(0)-1, 1))
	c.MaxModule = call.Or(c.MaxModule, 64<<20)
	c.MaxInstances = call.Or(c.MaxInstances, 4096)
	c.IdleTrim = call.Or(c.IdleTrim, 10*time.Second)
	c.IdleClose = call.Or(c.IdleClose, 5*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
