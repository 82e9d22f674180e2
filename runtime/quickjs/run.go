package quickjs

import (
	"strings"
	"unicode/utf8"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Answers of the prelude's call and tick.
const (
	settled = iota // the method has returned; what it threw has ended the call
	waiting        // it has not, but there is more to do
	stuck          // it has not, and never will
)

// Run calls an exported function of the script.
func (p *program) Run(c *engine.Call) error {
	v := vm{c}
	name, ok := p.names[c.Export]
	if !ok {
		return fault.New(fault.Trap, "", "The script has no export %s", c.Export)
	}
	if !p.takeInput(v) {
		return fault.New(fault.Exhausted, "", "%s: the input does not fit the script's memory", c.Export)
	}
	v.putUint32(p.argv, uint32(name))
	v.putUint32(p.argv+4, p.input)
	state := p.state(v, v.do("qjs_call", p.call, p.nothing, 2, uint64(p.argv)))
	if state == settled && v.do("qjs_is_job_pending") != 0 {
		state = waiting // for what the method has begun and not awaited
	}
	for state == waiting {
		v.drain()
		state = p.state(v, v.do("qjs_call", p.tick, p.nothing, 0, 0))
	}
	if state == stuck {
		return fault.New(fault.Trap, "PromiseNeverSettledError", "%s waits for a promise that nothing will settle", c.Export)
	}
	return p.unhandled(v)
}

// Stack asks the prelude for a stack: its own frame is on top of those that the
// end of the call has left.
func (p *program) Stack(c *engine.Call) []string {
	v := vm{c}
	frames, _ := p.source.trace(v.string(v.do("qjs_call", p.where, p.nothing, 0, 0)))
	return frames
}

// takeInput parses the call's input.
func (p *program) takeInput(v vm) bool {
	length := uint32(v.c.Arg)
	text := uint32(v.room(int(length) + 1))
	stack := []uint64{uint64(text), uint64(length)}
	p.host[abi.Input](v.c, stack)
	v.c.Write(text+length, []byte{0})
	ok := v.parse(p.context, text, length, p.file, p.input)
	v.do("wasm_free", uint64(text))
	return ok
}

// state reads what call or tick answered. An exception comes from the prelude
// itself, which catches all others, so it is one it had no room to catch.
func (p *program) state(v vm, handle uint64) int {
	if v.do("qjs_is_exception", handle) != 0 {
		v.c.Abort(fault.New(fault.Exhausted, "", "%s: %s", v.c.Export, v.string(v.do("qjs_get_exception"))))
	}
	return int(v.uint32(uint32(handle))) // a small number is its own lower half
}

// thrownError is how the prelude describes an error.
type thrownError struct {
	Kind    int    `json:"kind"` // 0: not one of the platform's errors
	Type    string `json:"type"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
}

const (
	maxText = 64 << 10 // of a message, in bytes
	maxType = 140
)

// fault is the error in the platform's terms. One that is not of a class of the
// platform's is a bug of the script, or of its data.
func (e *thrownError) fault(source *sources) *fault.Error {
	kind := fault.Trap
	if e.Kind > 0 && e.Kind < 256 && fault.Kind(e.Kind).Valid() {
		kind = fault.Kind(e.Kind)
	}
	f := &fault.Error{Kind: kind, Type: errorName(e.Type), Message: cut(e.Message, maxText)}
	f.Trace, _ = source.trace(e.Stack)
	switch {
	case kind == fault.Internal:
		f.Err, f.Message = fault.New(kind, f.Type, "%s", f.Message), "Something went wrong in a plugin"
	case e.Kind == 0 && e.Type == "InternalError" && e.Message == "out of memory":
		f.Kind, f.Type, f.Message = fault.Exhausted, "", "The script's memory is used up"
	}
	return f
}

// errorName is a name as classes have it; empty for anything else.
func errorName(s string) string {
	if s == "" || len(s) > maxType {
		return ""
	}
	for _, r := range s {
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return ""
		}
	}
	return s
}

// cut shortens s to at most n bytes, without half a character at its end.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
