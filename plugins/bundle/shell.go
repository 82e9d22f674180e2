package bundle

import (
	"encoding/binary"

	"armature/plugins/manifest"
	"armature/plugins/script"
	"armature/runtime/abi"
)

// describe makes the module that stands for a script: it imports what the manifest
// asks for and exports the functions, so that whoever looks at a plugin sees
// one like any other. What it does is in the section that the engine reads.
func describe(m *manifest.Manifest, s *script.Script) []byte {
	imports := [][]byte{}
	for _, g := range m.Imports() {
		imports = append(imports, join(name(abi.Module), name(g), []byte{kindFunction, typeCapability}))
	}
	var functions, exports, bodies [][]byte
	for i, f := range s.Functions {
		functions = append(functions, []byte{typeMethod})
		exports = append(exports, join(name(f), []byte{kindFunction}, number(len(imports)+i)))
		bodies = append(bodies, []byte{3, 0, opUnreachable, opEnd})
	}
	types := [][]byte{
		{formFunction, 4, i32, i32, i32, i32, 1, i32}, // typeCapability
		{formFunction, 1, i32, 0},                     // typeMethod
	}
	module := join(moduleHeader, vector(1, types), vector(2, imports), vector(3, functions), vector(7, exports), vector(10, bodies))
	module = appendCustom(module, abi.ScriptSection, s.Code)
	return appendCustom(module, abi.ScriptMapSection, s.Map)
}

// Bytes of the binary format.
const (
	i32           = 0x7f
	formFunction  = 0x60
	kindFunction  = 0
	opUnreachable = 0x00
	opEnd         = 0x0b

	typeCapability = 0
	typeMethod     = 1
)

// vector is a section that is a list.
func vector(id byte, items [][]byte) []byte {
	payload := join(append([][]byte{number(len(items))}, items...)...)
	return join([]byte{id}, number(len(payload)), payload)
}

func name(s string) []byte { return join(number(len(s)), []byte(s)) }

func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
