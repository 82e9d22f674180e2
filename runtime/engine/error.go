package engine

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"armature/core/fault"
	"armature/runtime/engine/internal/rewrite"
	"armature/runtime/sourcemap"
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

// exit ends a call as the guest asked for: WASI's proc_exit.
type exit struct{ code uint32 }

func (e *exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// failure turns what the WebAssembly runtime returned into an Error; nil when
// the guest merely exited with code zero.
func failure(export string, err error, source *sourcemap.Table) *Error {
	e := &Error{Reason: Trap, Export: export, Stack: guestStack(err.Error(), source)}
	var (
		a    *abort
		x    *exit
		host runtime.Error
	)
	switch {
	case errors.As(err, &a):
		e.Reason, e.Detail, e.Err = a.reason, a.detail, a.err
	case errors.As(err, &x):
		if x.code == 0 {
			return nil
		}
		e.Reason, e.Code, e.Detail = Exited, x.code, fmt.Sprintf("code %d", x.code)
	case errors.As(err, &host):
		e.Reason, e.Err = HostPanic, host
	case err.Error() == "stack overflow" || strings.HasPrefix(err.Error(), "wasm error: stack overflow"):
		e.Reason, e.Detail = TooDeep, "the guest's stack is used up"
	case strings.HasPrefix(err.Error(), "wasm error: "):
		e.Detail = cause(err)
	default:
		e.Reason, e.Err = HostPanic, err
	}
	return e
}

// cause is the text of a trap without its stack trace.
func cause(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// guestStack reads the functions out of the runtime's trace, the only form in which
// it offers them, and says where in the sources each was.
func guestStack(text string, source *sourcemap.Table) []string {
	_, trace, ok := strings.Cut(text, "wasm stack trace:\n")
	if !ok {
		return nil
	}
	var stack []string
	placed := false // the latest line has begun a frame, whose place may follow
	for line := range strings.SplitSeq(trace, "\n") {
		line, ok = strings.CutPrefix(line, "\t")
		if !ok {
			break
		}
		if at, isPlace := strings.CutPrefix(line, "\t"); isPlace {
			if placed {
				stack[len(stack)-1] += placeOf(at, source)
				placed = false
			}
			continue
		}
		name := frameName(line)
		if placed = name != "" && name != rewrite.DetourName; placed {
			stack = append(stack, name)
		}
	}
	return stack
}

// placeOf is the place that a line such as "0x1f: g:1" stands for, in brackets
// behind a space.
func placeOf(line string, source *sourcemap.Table) string {
	hex, _, ok := strings.Cut(line, ": ")
	offset, err := strconv.ParseUint(hex, 0, 32)
	if !ok || err != nil || source == nil {
		return ""
	}
	p, ok := source.Find(uint32(offset))
	if !ok {
		return ""
	}
	if p.Column == 0 {
		return fmt.Sprintf(" (%s:%d)", p.File, p.Line)
	}
	return fmt.Sprintf(" (%s:%d:%d)", p.File, p.Line, p.Column)
}

// frameName is the function of a trace line such as ".main.run(i32,i32) i64",
// empty for lines that name none. The module part before the first dot is
// always empty for guests; host frames carry a module and are left out.
func frameName(line string) string {
	open := strings.LastIndexByte(line, '(')
	if open <= 0 || line[0] != '.' {
		return ""
	}
	return line[1:open]
}
