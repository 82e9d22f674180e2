package call

import (
	"errors"
	"fmt"

	"armature/runtime/engine/internal/instance"
)

// Run runs an export with zeroes for its parameters, in the instance that serves the
// call.
func Run(c *Call, export string) *Error { return c.run(export, 0, nil) }

// runExport runs c.Export, and keeps what it returns.
func (c *Call) runExport(returns bool) *Error {
	if returns {
		return c.run(c.Export, c.Arg, &c.Result)
	}
	return c.run(c.Export, c.Arg, nil)
}

// run runs an export. A guest that exits with code zero returns zero.
func (c *Call) run(export string, arg int32, result *uint64) *Error {
	r, err := c.in.Run((*running)(c), export, uint64(uint32(arg)))
	if err != nil {
		if errors.Is(err, instance.ErrNoFunction) {
			return &Error{Reason: BadExport, Export: export, Detail: err.Error()}
		}
		if e := c.failed(export, err); e != nil {
			return e
		}
		r = 0
	}
	if result != nil {
		*result = r
	}
	return nil
}

// failed says why an export did not return; nil if the guest merely exited.
func (c *Call) failed(export string, err error) *Error {
	e := failure(export, err, c.in.SourceMap())
	if e == nil {
		return nil
	}
	if e.Reason == HostPanic {
		c.subject.Log.Error("panic in a host function", "module", c.subject.Hash(), "export", export, "err", err)
	}
	if e.Reason == TooDeep {
		c.in.DropStack(export)
	}
	if e.Reason == Trap || e.Reason == Exited || e.Reason == BadPointer && c.kernel != nil {
		if refused := max(c.in.Refused(), c.refused); refused > 0 {
			e.Detail = fmt.Sprintf("%d bytes asked for, then %s", refused, e.Detail)
			e.Reason = OutOfMemory
		}
	}
	return e
}

// serveKernel runs c.Export between what the dialect does before and after it.
func (c *Call) serveKernel(returns bool) (failed *Error) {
	defer c.recovered(c.Export, &failed)
	c.kernel.Begin(c)
	if err := c.runExport(returns); err != nil {
		if said := c.kernel.Said(); said != "" && (err.Reason == Trap || err.Reason == Exited) {
			err.Detail = said + " (" + err.Detail + ")"
		}
		return err
	}
	if err := c.kernel.End(c); err != nil {
		return &Error{Reason: Aborted, Export: c.Export, Err: err}
	}
	return nil
}

// recovered ends what an interpreter or a kernel does outside of the guest, where
// nothing else catches an abort.
func (c *Call) recovered(export string, failed **Error) {
	switch r := recover().(type) {
	case nil:
	case *abort:
		*failed = &Error{Reason: r.reason, Export: export, Detail: r.detail, Err: r.err}
	default:
		c.subject.Log.Error("panic in an interpreter", "module", c.subject.Hash(), "export", export, "panic", r)
		*failed = &Error{Reason: HostPanic, Export: export, Detail: fmt.Sprint(r)}
	}
}
