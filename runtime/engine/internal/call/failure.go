package call

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"armature/runtime/internal/rewrite"
	"armature/runtime/sourcemap"
)

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
