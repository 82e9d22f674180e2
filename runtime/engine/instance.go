package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"

	"armature/runtime/abi"
)

// instance is one live module. It is the context of its own calls: host
// functions find it there without an allocation.
type instance struct {
	context.Context
	call   *Call
	mod    api.Module
	mem    api.Memory
	stdout lines
	stderr lines
	stack  [2]uint64
}

// Value finds the instance itself, then what the caller's context has.
func (in *instance) Value(key any) any {
	if key == (instanceKey{}) {
		return in
	}
	return in.Context.Value(key)
}

// instantiate makes an instance and runs its own initialisation.
func (m *Module) instantiate(ctx context.Context, c *Call) (*instance, error) {
	in := &instance{Context: ctx, call: c}
	c.in, c.module, c.ctx = in, m, ctx
	mod, err := m.engine.rt.InstantiateModule(in, m.code, anonymous)
	if err != nil {
		return nil, err
	}
	in.mod, in.mem = mod, mod.Memory()
	for _, name := range []string{abi.Initialize, abi.Warm} {
		if err := in.run(name, 0); err != nil {
			in.close()
			return nil, err
		}
	}
	return in, nil
}

// run calls an export if there is one.
func (in *instance) run(name string, arg int32) error {
	f := in.mod.ExportedFunction(name)
	if f == nil {
		return nil
	}
	in.stack[0] = uint64(uint32(arg))
	if err := f.CallWithStack(in, in.stack[:]); err != nil {
		if ctxErr := in.Context.Err(); ctxErr != nil {
			return &Error{Reason: Deadline, Export: name, Err: ctxErr}
		}
		if e := failure(name, err); e != nil {
			return e
		}
	}
	return nil
}

func (in *instance) close() { _ = in.mod.Close(context.Background()) }

// Call runs one exported function from the module's initial state. The error is
// an *Error.
func (m *Module) Call(ctx context.Context, c *Call) (Usage, error) {
	x, ok := m.exports[c.Export]
	if !ok || !x.Callable() {
		return Usage{}, &Error{Reason: BadExport, Export: c.Export, Detail: "the module has no callable function of this name"}
	}
	e := m.engine
	c.started = time.Now()
	c.limits = c.Limits.Or(e.cfg.Defaults).Min(e.cfg.Maximum)
	c.deadline = c.started.Add(c.limits.Wall)
	ctx, cancel := context.WithDeadline(ctx, c.deadline)
	defer cancel()

	in, err := m.instantiate(ctx, &Call{warm: true, limits: e.cfg.Maximum, deadline: c.deadline})
	if err == nil {
		in.call, c.in, c.module, c.ctx = c, in, m, ctx
		err = in.run(abi.Resume, 0)
		if err == nil {
			err = in.run(c.Export, c.Arg)
		}
		c.Result = in.stack[0]
		c.flushOutput()
		c.usage.Fresh = true
		if in.mem != nil {
			c.usage.MemoryPeak = uint64(in.mem.Size())
		}
		in.close()
	}
	c.usage.Wall = time.Since(c.started)
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		err = &Error{Reason: Trap, Export: c.Export, Err: fmt.Errorf("initialise: %w", err)}
	}
	return c.usage, err
}

// Blocking runs fn, which may wait, without holding up other guests.
func (c *Call) Blocking(fn func()) { fn() }
