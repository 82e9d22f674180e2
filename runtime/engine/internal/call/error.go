package call

import (
	"errors"
	"fmt"
	"strings"

	"armature/core/fault"
)

// Reason says why a call failed.
type Reason uint8

// The reasons.
const (
	Trap        Reason = iota + 1 // the guest did what WebAssembly forbids, or executed unreachable
	OutOfFuel                     // the CPU budget is used up
	Deadline                      // the wall clock is
	Canceled                      // the caller went away
	OutOfMemory                   // the guest asked for more memory than it may have, and gave up
	TooDeep                       // calls nested too deep, in the guest or between modules
	HostCalls                     // too many host calls
	BadPointer                    // a pointer and length outside the guest's memory
	BadExport                     // no such export, or not one of a callable shape
	Exited                        // the guest ended its process with a code other than zero
	Aborted                       // a host function ended the call with an error of its own
	HostPanic                     // a host function panicked: a bug of ours
	Unavailable                   // the engine is closing or has no instance free
)

var reasons = [...]string{
	Trap: "trap", OutOfFuel: "out of fuel", Deadline: "deadline", Canceled: "canceled",
	OutOfMemory: "out of memory", TooDeep: "calls nested too deep", HostCalls: "too many host calls",
	BadPointer: "bad pointer", BadExport: "bad export", Exited: "exited", Aborted: "aborted",
	HostPanic: "host panic", Unavailable: "unavailable",
}

// String returns the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasons) && reasons[r] != "" {
		return reasons[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// kind is the fault kind of the reason.
func (r Reason) kind() fault.Kind {
	switch r {
	case Deadline:
		return fault.Timeout
	case OutOfFuel, OutOfMemory, TooDeep, HostCalls:
		return fault.Exhausted
	case Canceled, Unavailable:
		return fault.Unavailable
	case HostPanic:
		return fault.Internal
	}
	return fault.Trap
}

// Error is a call that failed. errors.As finds in it what a host function gave
// to [Call.Abort], and a *fault.Error for every reason.
type Error struct {
	Reason Reason
	Export string
	Detail string   // what exactly, in terms of the guest
	Code   uint32   // with which the guest exited
	Stack  []string // guest functions, innermost first
	Err    error    // the cause: the error given to Abort, or the trap
}

// Error returns the export, the reason and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("call ")
	b.WriteString(e.Export)
	b.WriteString(": ")
	b.WriteString(e.Reason.String())
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// As makes errors.As(err, **fault.Error) work for every failed call.
func (e *Error) As(target any) bool {
	f, ok := target.(**fault.Error)
	if ok {
		*f = e.Fault()
	}
	return ok
}

// Fault is the error in the platform's terms, the guest's frames as its trace.
// A fault that a host function aborted with keeps its kind, type and message.
func (e *Error) Fault() *fault.Error {
	var cause *fault.Error
	if errors.As(e.Err, &cause) {
		f := *cause
		if f.Trace == nil {
			f.Trace = e.Stack
		}
		return &f
	}
	if e.Reason == Aborted {
		return fault.From(e.Err)
	}
	f := fault.Wrap(e.Reason.kind(), "", e.Err, "%s: %s", e.Export, e.Reason)
	if e.Detail != "" {
		f.Message += ": " + e.Detail
	}
	f.Trace = e.Stack
	return f
}
