package quickjs

import (
	"encoding/json"
	"strconv"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Imports are the functions QuickJS asks for. Only host_call and
// host_promise_rejection are ever used: the prelude alone has the functions that
// lead to the former, and passes strings on.
func (q *Interpreter) Imports() []engine.Import {
	env := func(name string, params int, results []engine.ValueType, fn hostFunc) engine.Import {
		im := engine.Import{Module: "env", Name: name, Results: results, Fn: fn}
		for range params {
			im.Params = append(im.Params, engine.I32)
		}
		return im
	}
	number := []engine.ValueType{engine.I32}
	zero := func(_ *engine.Call, stack []uint64) { stack[0] = 0 }
	return []engine.Import{
		env("host_get_timezone_offset", 2, number, zero), // a script's time is UTC
		env("host_interrupt", 0, number, zero),
		env("host_promise_rejection", 3, nil, rejected),
		env("host_module_normalize", 2, number, zero),
		env("host_module_load", 2, number, zero),
		env("host_call", 5, number, q.hostCall),
	}
}

// hostCall is what a function of the prelude's host object leads to: (name, its
// length, this, argc, argv) -> the handle of the result, 0 for an exception.
func (q *Interpreter) hostCall(c *engine.Call, stack []uint64) {
	name := c.Read(uint32(stack[0]), uint32(stack[1]))
	h := hostCalls[string(name)]
	if h.run == nil || int(uint32(stack[3])) != h.args {
		c.Abort(fault.New(fault.Trap, "", "The prelude calls %.40q with %d arguments", name, uint32(stack[3])))
	}
	x := &exchange{vm: vm{c}, host: q.host, argv: uint32(stack[4])}
	stack[0] = h.run(x)
}

// exchange is one call of the host by the prelude.
type exchange struct {
	vm
	host map[string]hostFunc
	argv uint32
}

// hostCalls are the functions of the host object, each with how many arguments it
// takes. All arguments are strings, if the comment says nothing else.
var hostCalls = map[string]struct {
	args int
	run  func(x *exchange) uint64
}{
	"ask":       {2, (*exchange).ask},       // a capability, its request -> the answer, parsed
	"output":    {1, (*exchange).output},    // JSON
	"fail":      {1, (*exchange).fail},      // a thrownError; does not return
	"log":       {2, (*exchange).log},       // "0" to "3", the line
	"now":       {0, (*exchange).now},       // -> microseconds of the clock, in decimal
	"random":    {1, (*exchange).random},    // how many bytes, in decimal -> a Uint8Array
	"encode":    {1, (*exchange).encode},    // text -> a Uint8Array
	"decode":    {2, (*exchange).decode},    // a Uint8Array, "fatal" or "" -> text, or undefined
	"url":       {3, (*exchange).url},       // see url.go
	"digest":    {2, (*exchange).digest},    // a hash's name, a Uint8Array -> a Uint8Array
	"hmac":      {3, (*exchange).hmac},      // a hash's name, two Uint8Arrays, key and data -> a Uint8Array
	"seal":      {4, (*exchange).seal},      // Uint8Arrays: key, nonce, additional data, data -> a Uint8Array
	"open":      {4, (*exchange).open},      // the same, of what seal answered -> a Uint8Array, or undefined
	"verify":    {4, (*exchange).verify},    // a hash's name; Uint8Arrays: key, signature, data -> text, or undefined
	"publicKey": {3, (*exchange).publicKey}, // "jwk", JSON, nothing, or "spki", "", a Uint8Array -> a Uint8Array, or undefined
	"keyKind":   {1, (*exchange).keyKind},   // what publicKey answered -> "RSA", or the name of a curve
	"equal":     {2, (*exchange).equal},     // two Uint8Arrays -> text, or undefined
}

func (x *exchange) arg(i int) uint64 { return uint64(x.uint32(x.argv + uint32(4*i))) }

// argText is a string argument; the caller frees it.
func (x *exchange) argText(i int) (ptr, length uint32) { return x.chars(x.arg(i)) }

func (x *exchange) argString(i int) string {
	p, n := x.argText(i)
	s := string(x.c.Read(p, n))
	x.free(p)
	return s
}

func (x *exchange) free(ptr uint32) { x.do("qjs_free_cstring", uint64(ptr)) }

func (x *exchange) undefined() uint64 { return x.do("qjs_get_undefined") }

// ask asks the host for a capability.
func (x *exchange) ask() uint64 {
	name := x.argString(0)
	fn := x.host[name]
	if fn == nil {
		x.c.Abort(fault.New(fault.Trap, "", "The prelude asks for %.40q", name))
	}
	request, length := x.argText(1)
	stack := []uint64{uint64(request), uint64(length), 0, 0}
	fn(x.c, stack)
	x.free(request)
	if n := int32(uint32(stack[0])); n < 0 {
		return x.refuse(fault.Kind(-n))
	}
	return x.value(x.take(uint32(stack[0])))
}

// take fetches an answer of n bytes and puts a zero behind it.
func (x *exchange) take(n uint32) (ptr, length uint32) {
	ptr = uint32(x.room(int(n) + 1))
	x.host[abi.Take](x.c, []uint64{uint64(ptr), uint64(n)})
	x.c.Write(ptr+n, []byte{0})
	return ptr, n
}

// value makes a value of JSON text and frees the text.
func (x *exchange) value(ptr, length uint32) uint64 {
	handle := uint32(x.room(8))
	file := x.text("answer")
	ok := x.parse(x.do("qjs_get_context_ptr"), ptr, length, file, handle)
	x.do("wasm_free", file)
	x.do("wasm_free", uint64(ptr))
	if !ok {
		return 0 // the exception is pending
	}
	return uint64(handle)
}

// refuse throws {kind, exc_type, message}, of which the prelude makes an error.
func (x *exchange) refuse(kind fault.Kind) uint64 {
	stack := []uint64{0, 0}
	x.host[abi.Take](x.c, stack) // how long it is; negative while the script is read
	ptr, n := x.take(uint32(max(int32(uint32(stack[0])), 0)))
	var e struct {
		Kind    fault.Kind `json:"kind"`
		Type    string     `json:"exc_type"`
		Message string     `json:"message"`
	}
	if n > 0 {
		_ = json.Unmarshal(x.c.Read(ptr, n), &e) // without it the kind says enough
	} else {
		e.Message = "The plugin is being loaded: there is no call yet, and no site"
	}
	e.Kind = kind
	x.do("wasm_free", uint64(ptr))
	text, err := json.Marshal(e)
	if err != nil {
		x.c.Abort(err)
	}
	handle := x.value(uint32(x.text(string(text))), uint32(len(text)))
	if handle != 0 {
		x.do("qjs_throw", handle)
	}
	return 0
}

// output hands over the call's result.
func (x *exchange) output() uint64 {
	ptr, length := x.argText(0)
	x.host[abi.Output](x.c, []uint64{uint64(ptr), uint64(length)})
	return x.undefined()
}

// describedFuel is what a byte of a described error costs.
const describedFuel = 40

// fail ends the call with what the script threw.
func (x *exchange) fail() uint64 {
	var e thrownError
	text := x.argString(0)
	x.c.Spend(describedFuel * uint64(len(text)))
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		x.c.Abort(fault.Wrap(fault.Trap, "", err, "The prelude describes no error"))
	}
	var source *sources
	if p, ok := x.c.Program().(*program); ok {
		source = p.source
	}
	x.c.Abort(e.fault(source))
	return 0
}

func (x *exchange) now() uint64 {
	stack := []uint64{0}
	x.host[abi.Now](x.c, stack)
	return x.newString(strconv.FormatUint(stack[0], 10))
}

func (x *exchange) log() uint64 {
	level := x.argString(0) + "1" // never empty
	ptr, length := x.argText(1)
	x.host[abi.Log](x.c, []uint64{uint64(level[0] - '0'), uint64(ptr), uint64(length)})
	x.free(ptr)
	return x.undefined()
}
