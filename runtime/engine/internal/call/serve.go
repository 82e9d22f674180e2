package call

import (
	"errors"

	"armature/runtime/abi"
	"armature/runtime/engine/internal/instance"
)

// Serve runs c.Export in an instance that is in its first state, for a call that has
// begun, of which it has spent some fuel on the instance. What the export returns is in
// c.Result. The instance is left as the guest leaves it; after a HostPanic it is in
// doubt.
func Serve(c *Call, in *instance.Instance, prepaid uint64, returns bool) *Error {
	size := in.Size()
	if size > c.limits.Memory {
		return &Error{Reason: OutOfMemory, Export: c.Export, Detail: "the module starts with more memory than the call may have"}
	}
	if !c.take(size) {
		return Unstarted(c, c.short)
	}
	Attach(c, in, prepaid)
	failed := c.shortened(c.serve(returns))
	Detach(c)
	return failed
}

func (c *Call) serve(returns bool) *Error {
	if c.subject.Program != nil {
		return c.serveProgram()
	}
	if c.subject.Resumes {
		if err := Run(c, abi.Resume); err != nil {
			return err
		}
	}
	if c.kernel != nil {
		return c.serveKernel(returns)
	}
	return c.runExport(returns)
}

// Initialise runs fn, by which a guest initialises itself, for a call that Warm made
// and that has begun. It returns the fuel that took.
func Initialise(c *Call, in *instance.Instance, fn func(c *Call) *Error) (fuel uint64, failed *Error) {
	Attach(c, in, 0)
	failed = fn(c)
	Detach(c)
	return c.usage.Fuel, failed
}

// Attach makes c the call that an instance serves.
func Attach(c *Call, in *instance.Instance, prepaid uint64) {
	c.in = in
	c.kernel, _ = in.Kernel().(Kernel)
	in.Begin(c.limits.Memory, (*running)(c))
	c.startMeter(prepaid)
}

// Detach takes down what the call has cost, and leaves the instance.
func Detach(c *Call) {
	c.usage.Fuel = c.in.Meter.Used()
	c.usage.MemoryPeak = c.in.Peak() + c.reservedPeak
	c.flushOutput()
	c.in, c.kernel = nil, nil
}

// Unstarted is the error of a call that has got no instance, or no memory for it.
func Unstarted(c *Call, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		e.Export = c.Export
		return e
	}
	return &Error{Reason: Unavailable, Export: c.Export, Err: err}
}

// shortened is the error of a guest that failed for want of memory that its limits
// allow: it is the server that is short.
func (c *Call) shortened(failed *Error) *Error {
	if failed == nil || c.short == nil {
		return failed
	}
	switch failed.Reason {
	case Trap, OutOfMemory, Exited, Aborted, BadPointer:
		return &Error{Reason: Unavailable, Export: failed.Export, Stack: failed.Stack, Err: c.short}
	}
	return failed
}
