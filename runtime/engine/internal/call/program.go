package call

import "armature/runtime/engine/internal/instance"

// serveProgram runs c.Export of a script.
func (c *Call) serveProgram() *Error {
	failed := c.runProgram()
	if failed != nil && (failed.Reason == OutOfFuel || failed.Reason == Deadline || failed.Reason == HostCalls) {
		failed.Stack = c.scriptStack()
	}
	return failed
}

func (c *Call) runProgram() (failed *Error) {
	defer c.recovered(c.Export, &failed)
	if err := c.subject.Program.Run(c); err != nil {
		return &Error{Reason: Aborted, Export: c.Export, Err: err}
	}
	return nil
}

// scriptStack asks the interpreter, whose memory is as the guest left it, where
// the script was. That costs the call nothing.
func (c *Call) scriptStack() (stack []string) {
	used := c.in.Meter.Used()
	c.in.Meter.Give(used, quantum, uint64(c.limits.Depth))
	defer func() { c.in.Meter.Give(used, 0, 0) }()
	var failed *Error
	defer c.recovered(c.Export, &failed) // then it is not known
	return c.subject.Program.Stack(c)
}

// Drive runs fn, which drives the guest from outside of it, by Invoke, and fails as
// that export of a guest would.
func Drive(c *Call, export string, fn func() error) (failed *Error) {
	defer c.recovered(export, &failed)
	if err := fn(); err != nil {
		return &Error{Reason: Aborted, Export: export, Err: err}
	}
	return nil
}

// Invoke runs a function that the module running the call exports, and returns
// its result, if any. It is for interpreters and their host functions: a function
// that is already running must not be invoked again before it returns. When it
// fails, the call ends.
func (c *Call) Invoke(export string, args ...uint64) uint64 {
	result, err := c.in.Run((*running)(c), export, args...)
	switch {
	case err == nil:
	case err == instance.ErrNoFunction:
		panic(&abort{reason: BadExport, detail: export + ": the interpreter has no such function"})
	default:
		if e := c.failed(export, err); e != nil {
			panic(&abort{reason: e.Reason, detail: e.Detail, err: e.Err})
		}
	}
	return result
}
