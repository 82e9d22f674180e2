package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero/experimental"

	"armature/runtime/abi"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/internal/rewrite"
)

// snapshot is a module's state after its own initialisation.
type snapshot struct {
	image   linear.Image // nil for a module without memory
	globals []uint64
	kernel  Kernel // nil unless the module speaks a dialect
}

// takeSnapshot initialises a first instance and freezes what it became.
func (m *Module) takeSnapshot(ctx context.Context, party string) (*snapshot, error) {
	in, _, err := m.newInitialised(ctx, m.birthCall(party))
	if err != nil {
		return nil, err
	}
	defer in.close()
	s := &snapshot{globals: make([]uint64, len(in.globals))}
	for i, g := range in.globals {
		s.globals[i] = g.Get()
	}
	if s.kernel = in.kernel; s.kernel != nil {
		s.kernel.Freeze()
	}
	if in.mem == nil {
		return s, nil
	}
	contents, _ := in.mem.Read(0, in.mem.Size())
	if s.image, err = m.engine.memory.Freeze(contents); err != nil {
		return nil, fmt.Errorf("freeze the memory: %w", err)
	}
	return s, nil
}

func (s *snapshot) close() error {
	if s == nil || s.image == nil {
		return nil
	}
	return s.image.Close()
}

// birthCall is the call in which a module initialises itself while it is loaded. That
// is not to fail because others are busy, so their turns do not count.
func (m *Module) birthCall(party string) *Call {
	return &Call{Limits: m.engine.cfg.Init, Party: party, unhurried: true}
}

// newInitialised makes an instance without a snapshot: data segments, start
// function, _initialize and armature_warm, in that order. It also returns the
// fuel that took.
func (m *Module) newInitialised(ctx context.Context, c *Call) (in *instance, fuel uint64, err error) {
	if in, err = m.newInstance(ctx, nil); err != nil {
		return nil, 0, err
	}
	if fuel, err = in.initialise(ctx, c); err != nil {
		in.close()
		return nil, fuel, err
	}
	return in, fuel, nil
}

func (in *instance) initialise(ctx context.Context, c *Call) (fuel uint64, err error) {
	for i, d := range in.module.code.Data {
		if !in.mem.Write(d.Offset, d.Bytes) {
			return 0, &Error{Reason: Trap, Export: "initialisation", Detail: fmt.Sprintf("data segment %d does not fit the memory", i)}
		}
	}
	c.warm, c.Senses, c.OnOutput = true, in.module.birth.senses(), in.module.engine.logInit
	c.begin(ctx, in.module)
	defer c.end()
	in.begin(c)
	failed := in.initialiseGuest()
	in.account(c)
	if failed != nil {
		return c.usage.Fuel, failed
	}
	return c.usage.Fuel, nil
}

func (in *instance) initialiseGuest() *Error {
	if in.module.interpreter != nil {
		return in.boot(in.call)
	}
	if in.module.code.Start {
		if err := in.run(abi.ReservedPrefix+rewrite.Start, 0); err != nil {
			err.Export = "start function"
			return err
		}
	}
	return in.startup(in.module.startupExports())
}

// startupExports lists what a module exports for its own initialisation, in the
// order in which it runs.
func (m *Module) startupExports() []string {
	if m.engine.cfg.Command != nil {
		return nil // a command begins with its main function
	}
	names := []string{abi.Initialize}
	if m.dialect != nil {
		names = m.dialect.Startup(m.Export)
	}
	return slices.DeleteFunc(append(names, abi.Warm), func(name string) bool {
		_, ok := m.exports[name]
		return !ok
	})
}

// logInit logs what guests print while they initialise, when there is no call
// to take it.
func (e *Engine) logInit(c *Call, _ bool, line []byte) {
	e.log.Info("guest initialisation", "module", c.module.hash, "line", string(line))
}

// newInstance makes an instance: a clone of the snapshot, or one with empty
// memory.
func (m *Module) newInstance(ctx context.Context, s *snapshot) (*instance, error) {
	e := m.engine
	if n := e.live.Add(1); n > int64(e.cfg.MaxInstances) && !e.evict() {
		e.live.Add(-1)
		return nil, &Error{Reason: Unavailable, Detail: fmt.Sprintf("%d instances are live", e.cfg.MaxInstances)}
	}
	in := &instance{module: m, snapshot: s}
	if err := in.open(ctx); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// open makes the memory and the instance around it.
func (in *instance) open(ctx context.Context) (err error) {
	m, code := in.module, in.module.code
	if m.dialect != nil {
		if ctx, err = in.openKernel(ctx); err != nil {
			return err
		}
	}
	if code.HasMemory {
		limit := uint64(code.MaxPages) << 16
		if in.snapshot != nil {
			in.memory, err = in.snapshot.image.Clone(limit)
		} else {
			in.memory, err = m.engine.memory.New(limit)
		}
		if err != nil {
			return fmt.Errorf("make a memory: %w", err)
		}
		ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
			func(_, _ uint64) experimental.LinearMemory { return in.memory }))
	}
	config := anonymous
	if p := m.engine.cfg.Command; p != nil {
		if config, err = p.config(); err != nil {
			return err
		}
	}
	if in.mod, err = m.engine.rt.InstantiateModule(ctx, m.compiled, config); err != nil {
		return fmt.Errorf("instantiate: %w", err)
	}
	return in.bind()
}
