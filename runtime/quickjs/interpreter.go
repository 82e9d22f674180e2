package quickjs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

//go:embed quickjs.wasm
var engineBinary []byte

// maxStack is how much of its own stack QuickJS may use, in bytes, before a call
// is a RangeError. The module's stack is not much larger.
const maxStack = 256 << 10

// gcThreshold is how much a call may allocate before QuickJS looks for cycles to
// free. Most calls end before: the reset frees everything at once.
const gcThreshold = 4 << 20

// headroom is how many bytes of the heap are free in the snapshot, so that an
// ordinary call need not grow the memory.
const headroom = 256 << 10

// Interpreter is QuickJS with the host of armature1.
type Interpreter struct {
	host map[string]hostFunc
	more []byte // of the prelude
}

type hostFunc = func(*engine.Call, []uint64)

// New makes an interpreter whose scripts reach the given imports, those of module
// armature1 among them.
func New(imports []engine.Import) *Interpreter {
	q := &Interpreter{host: map[string]hostFunc{}}
	for _, im := range imports {
		if im.Module == abi.Module {
			q.host[im.Name] = im.Fn
		} else { // of a test
			q.host[im.Module+"."+im.Name] = im.Fn
		}
	}
	return q
}

// With is the interpreter with a text that follows the prelude and is in its
// scope: it can see and replace what the prelude asks the host by. Tests of
// scripts are run so.
func (q *Interpreter) With(text []byte) *Interpreter { return &Interpreter{host: q.host, more: text} }

// Section is abi.ScriptSection.
func (q *Interpreter) Section() string { return abi.ScriptSection }

// Binary is QuickJS.
func (q *Interpreter) Binary() []byte { return engineBinary }

// program is a script that has been evaluated. The numbers are addresses in the
// snapshot.
type program struct {
	host     map[string]hostFunc
	context  uint64
	nothing  uint64            // undefined
	call     uint64            // the prelude's call(name, input)
	tick     uint64            // the prelude's tick()
	where    uint64            // the prelude's where()
	describe uint64            // the prelude's describe(thrown)
	names    map[string]uint64 // exports
	argv     uint32            // room for two handles
	input    uint32            // a value, and the handle of it
	file     uint64            // a file name for JSON
	source   *sources
}

// Boot evaluates a script.
func (q *Interpreter) Boot(c *engine.Call) (engine.Program, error) {
	script, ok := section(c, abi.ScriptSection)
	if !ok {
		return nil, fault.Invalid("", "The module has no script, or two")
	}
	v := vm{c}
	if v.do("qjs_init") != 0 {
		return nil, fmt.Errorf("QuickJS does not start")
	}
	v.do("qjs_set_max_stack_size", maxStack)
	v.do("qjs_set_gc_threshold", gcThreshold)
	p := &program{host: q.host, context: v.do("qjs_get_context_ptr"), nothing: v.do("qjs_get_undefined"), names: map[string]uint64{}}
	if text, ok := section(c, abi.ScriptMapSection); ok {
		p.source = &sources{text: text}
	}
	library, err := p.library(v, q.more)
	if err != nil {
		return nil, err
	}
	p.call, p.tick, p.where = v.property(library, "call"), v.property(library, "tick"), v.property(library, "where")
	p.describe = v.property(library, "describe")
	namespace, err := p.evaluate(v, library, script)
	if err != nil {
		return nil, err
	}
	names, err := p.exports(v, c)
	if err != nil {
		return nil, err
	}
	if _, err := p.apply(v, library, "install", namespace, names); err != nil {
		return nil, err
	}
	p.argv, p.input, p.file = uint32(v.room(8)), uint32(v.room(8)), v.text("input")
	v.do("qjs_set_promise_rejection_handler", 1)
	v.do("qjs_run_gc")
	v.do("wasm_free", v.room(headroom))
	return p, nil
}

// section is the one custom section of that name.
func section(c *engine.Call, name string) ([]byte, bool) {
	all := c.Binary().Sections(name)
	if len(all) != 1 {
		return nil, false
	}
	return all[0], true
}

// library evaluates the prelude and hands it the host's functions.
func (p *program) library(v vm, more []byte) (library uint64, err error) {
	host := v.do("qjs_new_object")
	for _, name := range slices.Sorted(maps.Keys(hostCalls)) { // the same everywhere, as a replay needs it
		f := v.do("qjs_new_host_function", v.text(name), uint64(len(name)), 0)
		v.do("qjs_set_prop_string", host, v.text(name), f)
	}
	prelude := v.eval(preludeText(more), preludeFile, 0)
	if err := p.exception(v, prelude, 0); err != nil {
		return 0, err
	}
	library = v.callFunction(prelude, p.nothing, host)
	return library, p.exception(v, library, 0)
}

// evaluate runs the script, whose promises must settle by themselves, and
// returns its namespace.
func (p *program) evaluate(v vm, library uint64, script []byte) (uint64, error) {
	done := v.eval(script, scriptFile, 1)
	if err := p.exception(v, done, library); err != nil {
		return 0, err
	}
	v.drain()
	switch v.do("qjs_promise_state", done) {
	case 0:
		return 0, fault.Invalid("", "The script awaits something, at its top level, that will never come")
	case 2:
		return 0, p.failure(v, library, v.do("qjs_promise_result", done))
	}
	return v.do("qjs_promise_result", done), nil
}

// exports makes a JavaScript array of the names the module declares, and keeps
// each as a value to call by.
func (p *program) exports(v vm, c *engine.Call) (array uint64, err error) {
	array = v.do("qjs_new_array")
	for i, x := range c.Binary().Exports() {
		name := v.do("qjs_new_string", v.text(x.Name), uint64(len(x.Name)))
		p.names[x.Name] = name
		v.do("qjs_set_prop_uint32", array, uint64(i), name)
	}
	return array, nil
}

// apply calls a function of the library.
func (p *program) apply(v vm, library uint64, function string, args ...uint64) (uint64, error) {
	result := v.callFunction(v.property(library, function), p.nothing, args...)
	return result, p.exception(v, result, library)
}

// exception is the error that a value stands for, if it stands for one.
func (p *program) exception(v vm, value, library uint64) error {
	if v.do("qjs_is_exception", value) == 0 {
		return nil
	}
	return p.failure(v, library, v.do("qjs_get_exception"))
}

// failure describes a JavaScript error that a script ended with while it was
// loaded.
func (p *program) failure(v vm, library, thrown uint64) error {
	if library == 0 { // the prelude's own
		return fmt.Errorf("the prelude fails: %s", v.string(thrown))
	}
	described := v.callFunction(v.property(library, "describe"), p.nothing, thrown)
	if v.do("qjs_is_exception", described) != 0 {
		return fault.Invalid("", "The script fails, and so does saying how")
	}
	var e thrownError
	if err := json.Unmarshal([]byte(v.string(described)), &e); err != nil {
		return fmt.Errorf("read a script's error: %w", err)
	}
	trace, at := p.source.trace(e.Stack)
	message := e.Type + ": " + e.Message
	if at != "" {
		message = at + ": " + message
	}
	return &fault.Error{Kind: fault.Validation, Message: cut(message, maxText), Trace: trace}
}
