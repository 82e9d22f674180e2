package call

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"armature/runtime/internal/rewrite"
)

// ValueType is the type of a parameter, a result or a global.
type ValueType byte

// The numeric types, as the binary format numbers them.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
	F32 ValueType = 0x7d
	F64 ValueType = 0x7c
)

// String returns the type's name in the text format.
func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	}
	return fmt.Sprintf("type 0x%x", byte(t))
}

// TypesOf reads value types as the binary format has them.
func TypesOf(b []byte) []ValueType {
	var ts []ValueType
	for _, t := range b {
		ts = append(ts, ValueType(t))
	}
	return ts
}

// ImportName names one imported function.
type ImportName struct{ Module, Name string }

// String returns "module.name".
func (n ImportName) String() string { return n.Module + "." + n.Name }

// Export is one exported function.
type Export struct {
	Name            string
	Params, Results []ValueType
}

// Callable reports whether Module.Call can run the export: at most one i32
// parameter and at most one result.
func (x Export) Callable() bool {
	return len(x.Params) <= 1 && (len(x.Params) == 0 || x.Params[0] == I32) && len(x.Results) <= 1
}

// Binary is what a WebAssembly binary says of itself. Of a script it is a description
// of what the interpreter that runs it is to offer.
type Binary struct {
	hash    string
	size    int
	imports []rewrite.Func
	exports map[string]Export
	custom  []rewrite.Custom
}

// BinaryOf takes down what is said by a binary of that SHA-256 and so many bytes.
func BinaryOf(hash string, size int, code *rewrite.Module) Binary {
	b := Binary{hash: hash, size: size, imports: code.Imports, exports: map[string]Export{}, custom: code.Custom}
	for _, x := range code.Exports {
		b.exports[x.Name] = Export{x.Name, TypesOf(x.Params), TypesOf(x.Results)}
	}
	return b
}

// Hash is the SHA-256 of the binary, in hexadecimal.
func (b *Binary) Hash() string { return b.hash }

// Size is its length in bytes.
func (b *Binary) Size() int { return b.size }

// Imports lists the functions the guest imports, WASI included, in the order it
// declares them.
func (b *Binary) Imports() []ImportName {
	names := make([]ImportName, len(b.imports))
	for i, im := range b.imports {
		names[i] = ImportName{im.Module, im.Name}
	}
	return names
}

// Exports lists the exported functions by name.
func (b *Binary) Exports() []Export {
	return slices.SortedFunc(maps.Values(b.exports), func(x, y Export) int { return strings.Compare(x.Name, y.Name) })
}

// Export returns the exported function of that name.
func (b *Binary) Export(name string) (Export, bool) {
	x, ok := b.exports[name]
	return x, ok
}

// Sections returns the contents of the custom sections of that name.
func (b *Binary) Sections(name string) [][]byte {
	var all [][]byte
	for _, s := range b.custom {
		if s.Name == name {
			all = append(all, s.Data)
		}
	}
	return all
}
