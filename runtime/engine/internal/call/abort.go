package call

import "fmt"

// abort travels as a panic from a host function through the guest's frames to
// the end of the call.
type abort struct {
	reason Reason
	detail string
	err    error
}

func (a *abort) Error() string {
	if a.err != nil {
		return a.err.Error()
	}
	return a.detail
}

// Abort ends the guest with err; it does not return. The call fails with an
// Error that unwraps to err.
func (c *Call) Abort(err error) {
	panic(&abort{reason: Aborted, err: err})
}

// BadPointer ends the guest for a pointer and a length that are not its own, in
// its memory or in what a dialect keeps for it; it does not return.
func (c *Call) BadPointer(ptr, length uint64) {
	panic(&abort{reason: BadPointer, detail: fmt.Sprintf("%d bytes at address %d", length, ptr)})
}

// stop ends the guest for a reason of the engine.
func stop(reason Reason, format string, args ...any) {
	panic(&abort{reason: reason, detail: fmt.Sprintf(format, args...)})
}

// Exit ends the guest as it asked for, by WASI's proc_exit; it does not return.
func Exit(code uint32) { panic(&exit{code}) }

// exit ends a call as the guest asked for: WASI's proc_exit.
type exit struct{ code uint32 }

func (e *exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }
