package quickjs

import (
	"encoding/binary"

	"armature/core/fault"
	"armature/runtime/engine"
)

// vm speaks to QuickJS in the instance that a call runs in. A handle is the
// address of a value; nothing is ever given back that the reset after the call
// frees, except what a call may make many of.
type vm struct{ c *engine.Call }

func (v vm) do(function string, args ...uint64) uint64 { return v.c.Invoke(function, args...) }

// room allocates.
func (v vm) room(size int) uint64 {
	p := v.do("wasm_malloc", uint64(size))
	if p == 0 {
		v.c.Abort(fault.New(fault.Exhausted, "", "The script's memory is used up"))
	}
	return p
}

// text copies s into the guest, with a zero behind it.
func (v vm) text(s string) uint64 {
	p := v.room(len(s) + 1)
	v.c.Write(uint32(p), append([]byte(s), 0))
	return p
}

// string is a value as JavaScript makes a string of it.
func (v vm) string(handle uint64) string {
	p, n := v.chars(handle)
	return string(v.c.Read(p, n))
}

// chars gives the UTF-8 of a string, until it is freed by qjs_free_cstring.
func (v vm) chars(handle uint64) (ptr, length uint32) {
	at := v.room(4)
	p := v.do("qjs_get_string_len", handle, at)
	if p == 0 {
		v.c.Abort(fault.New(fault.Exhausted, "", "The script's memory is used up"))
	}
	n := v.uint32(uint32(at))
	v.do("wasm_free", at)
	return uint32(p), n
}

func (v vm) uint32(ptr uint32) uint32 { return binary.LittleEndian.Uint32(v.c.Read(ptr, 4)) }
func (v vm) uint64(ptr uint32) uint64 { return binary.LittleEndian.Uint64(v.c.Read(ptr, 8)) }

func (v vm) putUint32(ptr, x uint32) { binary.LittleEndian.PutUint32(v.c.Read(ptr, 4), x) }
func (v vm) putUint64(ptr uint32, x uint64) {
	binary.LittleEndian.PutUint64(v.c.Read(ptr, 8), x)
}

// eval evaluates code; flags 1 is a module, of which a promise is the value.
func (v vm) eval(code []byte, file string, flags uint64) uint64 {
	p := v.room(len(code) + 1)
	v.c.Write(uint32(p), append(code[:len(code):len(code)], 0))
	return v.do("qjs_eval", p, uint64(len(code)), v.text(file), flags)
}

func (v vm) property(object uint64, name string) uint64 {
	return v.do("qjs_get_prop_string", object, v.text(name))
}

func (v vm) callFunction(f, this uint64, args ...uint64) uint64 {
	argv := uint32(v.room(4 * max(len(args), 1)))
	for i, a := range args {
		v.putUint32(argv+uint32(4*i), uint32(a))
	}
	return v.do("qjs_call", f, this, uint64(len(args)), uint64(argv))
}

// drain runs the jobs that promises left.
func (v vm) drain() {
	for v.do("qjs_is_job_pending") != 0 {
		v.do("qjs_execute_pending_job")
	}
}

// parse makes a value of JSON text that lies in the guest with a zero behind it,
// and leaves it at dst; 0 is an exception.
func (v vm) parse(context uint64, ptr, length uint32, file uint64, dst uint32) bool {
	value := v.do("JS_ParseJSON", context, uint64(ptr), uint64(length), file)
	v.putUint64(dst, value)
	return v.do("qjs_is_exception", uint64(dst)) == 0
}
