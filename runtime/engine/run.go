package engine

import (
	"context"
	"errors"

	"armature/runtime/abi"
)

// Call runs one exported function from the module's initial state. Except for
// a misuse of Call itself, the error is an *Error.
func (m *Module) Call(ctx context.Context, c *Call) (Usage, error) {
	if err := m.call(ctx, c); err != nil {
		return c.usage, err
	}
	return c.usage, nil
}

func (m *Module) call(ctx context.Context, c *Call) error {
	x, ok := m.exports[c.Export]
	if !ok || !x.Callable() {
		return &Error{Reason: BadExport, Export: c.Export, Detail: "the module has no callable function of this name"}
	}
	c.begin(ctx, m)
	defer c.end()
	if c.nesting > maxNesting {
		return &Error{Reason: TooDeep, Export: c.Export, Detail: "calls between modules are nested too deep"}
	}
	in, err := m.acquire(ctx, c)
	if err != nil {
		return c.unstarted(err)
	}
	if in.mem != nil && uint64(in.mem.Size()) > c.limits.Memory {
		m.release(in, c, false)
		return &Error{Reason: OutOfMemory, Export: c.Export, Detail: "the module starts with more memory than the call may have"}
	}
	if in.mem != nil && !c.take(uint64(in.mem.Size())) {
		m.release(in, c, false)
		return c.unstarted(c.short)
	}
	in.begin(c)
	failed := in.serve(c, len(x.Results) > 0)
	failed = c.shortened(failed)
	in.account(c)
	m.release(in, c, failed != nil && failed.Reason == HostPanic)
	if failed != nil {
		return failed
	}
	return nil
}

// serve runs the guest.
func (in *instance) serve(c *Call, returns bool) *Error {
	if in.module.program != nil {
		return in.interpret(c)
	}
	if in.module.resumes {
		if err := in.run(abi.Resume, 0); err != nil {
			return err
		}
	}
	if in.kernel != nil {
		return in.serveKernel(c, returns)
	}
	if err := in.run(c.Export, c.Arg); err != nil {
		return err
	}
	if returns {
		c.Result = in.stack[0]
	}
	return nil
}

// acquire takes an idle instance or makes one.
func (m *Module) acquire(ctx context.Context, c *Call) (*instance, error) {
	in, ok := m.pool.get()
	if !ok {
		return nil, ErrClosed
	}
	if in != nil {
		return in, nil
	}
	c.usage.Fresh = true
	var err error
	if m.snapshot != nil {
		in, err = m.newInstance(ctx, m.snapshot)
	} else {
		in, c.prepaid, err = m.newInitialised(ctx, &Call{Limits: c.limits, Party: c.turn.party})
	}
	if err != nil {
		m.pool.gone()
	}
	return in, err
}

// release resets an instance for the next call. One that cannot be reset, or
// whose state is in doubt, is closed.
func (m *Module) release(in *instance, c *Call, doubtful bool) {
	if in.snapshot == nil || doubtful {
		m.drop(in)
		return
	}
	pages, err := in.reset()
	c.usage.ResetPages = pages
	if err != nil {
		m.engine.log.Error("reset an instance", "module", m.hash, "err", err)
		m.drop(in)
		return
	}
	if in.kernel != nil && !in.kernel.Reset() {
		m.drop(in)
		return
	}
	if !in.keep() || !m.pool.put(in, c.started) { // near enough, and one reading of the clock less
		m.drop(in)
	}
}

// drop closes an instance that is in nobody's hands.
func (m *Module) drop(in *instance) {
	in.close()
	m.pool.gone()
}

// unstarted is the error of a call that found no instance.
func (c *Call) unstarted(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		e.Export = c.Export
		return e
	}
	return &Error{Reason: Unavailable, Export: c.Export, Err: err}
}
