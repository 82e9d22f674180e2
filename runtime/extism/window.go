package extism

import (
	"encoding/binary"

	"armature/runtime/abi"
	"armature/runtime/engine"
)

// The window of an instance is a module with the arena's bytes for its memory. It
// loads and stores what lies in the arena, and in the input, without leaving
// WebAssembly, which costs twenty times as much as the load. Everything else, and
// every access that its globals do not let it do, is handed on to the functions of
// the kernel, which have the same names.

// Globals of the window, all i64. They say how far it may go by itself.
const (
	globalEnd1  = iota // length of the arena: where a byte may begin
	globalEnd8         // where eight bytes may begin; of an arena shorter than that 0
	globalFloor        // below it lies what was frozen, and stores are the kernel's
	globalIn           // where the input is in the arena
	globalIn1          // its length
	globalIn8          // where eight bytes of it may begin
	globals
)

var globalNames = [globals]string{"end1", "end8", "floor", "in", "in1", "in8"}

// window sets the globals.
type window [globals]interface{ Set(uint64) }

func newWindow(w *engine.Window) (g window) {
	for i, name := range globalNames {
		g[i] = w.Global(name)
	}
	return g
}

// reach is how long the arena is.
func (g *window) reach(n uint64) {
	g[globalEnd1].Set(n)
	g[globalEnd8].Set(max(n, 7) - 7)
}

// forget starts anew with an arena of which the first n bytes are frozen.
func (g *window) forget(n uint64) {
	g[globalFloor].Set(n)
	g.input(0, 0)
}

// open lets stores into what was frozen pass: one has been noted.
func (g *window) open() { g[globalFloor].Set(0) }

// input is where the input lies in the arena.
func (g *window) input(at, n uint64) {
	g[globalIn].Set(at)
	g[globalIn1].Set(n)
	g[globalIn8].Set(max(n, 7) - 7)
}

// Instructions.
const (
	opIf       = 0x04
	opElse     = 0x05
	opEnd      = 0x0b
	opCall     = 0x10
	opLocal    = 0x20
	opTee      = 0x22
	opGlobal   = 0x23
	opLoad64   = 0x29
	opLoad8    = 0x2d // of an i32, unsigned
	opStore64  = 0x37
	opStore8   = 0x3a // of an i32
	opConst    = 0x42 // of an i64
	opLess     = 0x54 // of i64, unsigned
	opNotLess  = 0x5a
	opAnd      = 0x71 // of i32
	opAdd      = 0x7c // of i64
	opSub      = 0x7d
	opWrap     = 0xa7
	typeNone   = 0x40
	typeI64    = 0x7e
	kindFunc   = 0
	kindMemory = 2
	kindGlobal = 3
)

// within are the functions that a window has itself, each an access: the
// instructions that leave on the stack whether it may be done, those that leave its
// address there, and those that do it.
var within = map[string][3][]byte{
	"load_u8":        {inArena(globalEnd1), arenaAddress, {opLoad8, 0, 0}},
	"load_u64":       {inArena(globalEnd8), arenaAddress, {opLoad64, 0, 0}},
	"store_u8":       {above(inArena(globalEnd1)), arenaAddress, {opLocal, 1, opStore8, 0, 0}},
	"store_u64":      {above(inArena(globalEnd8)), arenaAddress, {opLocal, 1, opStore64, 0, 0}},
	"input_load_u8":  {inInput(globalIn1), inputAddress, {opLoad8, 0, 0}},
	"input_load_u64": {inInput(globalIn8), inputAddress, {opLoad64, 0, 0}},
}

// offset is the local that keeps the offset of an access. It comes behind the
// parameters, of which there are at most two.
const offset = 2

var (
	arenaAddress = []byte{opLocal, offset, opWrap}
	inputAddress = []byte{opGlobal, globalIn, opLocal, 0, opAdd, opWrap}
)

// inArena compares an address, the first parameter, with where accesses end.
func inArena(end byte) []byte {
	const first = base >> 14 // of the three bytes that base has as LEB128
	return []byte{opLocal, 0, opConst, 0x80, 0x80, first, opSub, opTee, offset, opGlobal, end, opLess}
}

// above compares it with where stores begin, too.
func above(b []byte) []byte {
	return append(b, opLocal, offset, opGlobal, globalFloor, opNotLess, opAnd)
}

// inInput compares an offset into the input, the first parameter.
func inInput(end byte) []byte { return []byte{opLocal, 0, opGlobal, end, opLess} }

// windowBinary makes the module for the functions of the kernel.
func windowBinary(kernel []engine.Import) []byte {
	var types, imports, own, memories, variables, exports, codes vector
	for i, im := range kernel {
		index := byte(i)
		types.add([]byte{0x60}, valueTypes(im.Params), valueTypes(im.Results))
		imports.add(text(im.Module), text(im.Name), []byte{kindFunc, index})
		if parts, ok := within[im.Name]; ok {
			own.add([]byte{index})
			codes.add(sized(body(im, parts, index)))
			index = byte(len(kernel) + own.n - 1)
		}
		exports.add(text(im.Name), []byte{kindFunc, index})
	}
	memories.add([]byte{0, 1}) // a page, and no maximum
	exports.add(text(abi.Memory), []byte{kindMemory, 0})
	for i, name := range globalNames {
		variables.add([]byte{typeI64, 1, opConst, 0, opEnd})
		exports.add(text(name), []byte{kindGlobal, byte(i)})
	}
	b := []byte("\x00asm\x01\x00\x00\x00")
	for id, v := range []vector{1: types, 2: imports, 3: own, 5: memories, 6: variables, 7: exports, 10: codes} {
		if v.n > 0 {
			b = append(append(b, byte(id)), sized(append([]byte{byte(v.n)}, v.bytes...))...)
		}
	}
	// With a name of the module's its functions are none of the guest's in a stack.
	names := append([]byte{0}, sized(text(abi.ExtismEnv))...)
	return append(append(b, 0), sized(append(text("name"), names...))...)
}

// body is a function that does the access if it may, and hands it on otherwise.
func body(im engine.Import, parts [3][]byte, kernel byte) []byte {
	result := byte(typeNone)
	if len(im.Results) > 0 {
		result = byte(im.Results[0])
	}
	locals := byte(offset + 1 - len(im.Params))
	b := append([]byte{1, locals, typeI64}, parts[0]...)
	b = append(append(append(b, opIf, result), parts[1]...), parts[2]...)
	b = append(b, opElse)
	for i := range im.Params {
		b = append(b, opLocal, byte(i))
	}
	return append(b, opCall, kernel, opEnd, opEnd)
}

// vector is a list in the binary format. None here has more than 127 items.
type vector struct {
	n     int
	bytes []byte
}

func (v *vector) add(parts ...[]byte) {
	v.n++
	for _, p := range parts {
		v.bytes = append(v.bytes, p...)
	}
}

func sized(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }

func text(s string) []byte { return sized([]byte(s)) }

func valueTypes(ts []engine.ValueType) []byte {
	b := []byte{byte(len(ts))}
	for _, t := range ts {
		b = append(b, byte(t))
	}
	return b
}
