package engine

import (
	"slices"

	"github.com/tetratelabs/wazero"
)

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

// Module is a loaded binary, shared by all who loaded the same bytes.
type Module struct {
	engine   *Engine
	hash     string
	size     int
	code     wazero.CompiledModule
	imports  []ImportName
	exports  map[string]Export
	sections map[string][][]byte
	reason   string // why calls cannot start from a snapshot

	loading *loading
}

// Hash is the SHA-256 of the binary, in hexadecimal.
func (m *Module) Hash() string { return m.hash }

// Imports lists the functions the guest imports, WASI included, in the order it
// declares them.
func (m *Module) Imports() []ImportName { return slices.Clone(m.imports) }

// Exports lists the exported functions by name.
func (m *Module) Exports() []Export {
	var xs []Export
	for _, x := range m.exports {
		xs = append(xs, x)
	}
	slices.SortFunc(xs, func(a, b Export) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return xs
}

// Export returns the exported function of that name.
func (m *Module) Export(name string) (Export, bool) {
	x, ok := m.exports[name]
	return x, ok
}

// Sections returns the contents of the custom sections of that name.
func (m *Module) Sections(name string) [][]byte { return m.sections[name] }

// Pristine reports whether calls start from a snapshot in a reused instance.
// Otherwise each call makes an instance of its own, and reason says why.
func (m *Module) Pristine() (ok bool, reason string) { return m.reason == "", m.reason }

// Info describes a module for people.
type Info struct {
	Hash     string
	Size     int // bytes of the binary
	Imports  []ImportName
	Exports  []Export
	Pristine bool
	Reason   string // why not
}

// Inspect describes the module.
func (m *Module) Inspect() Info {
	return Info{Hash: m.hash, Size: m.size, Imports: m.Imports(), Exports: m.Exports(), Pristine: m.reason == "", Reason: m.reason}
}
