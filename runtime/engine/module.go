package engine

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"

	"armature/core/account"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/internal/rewrite"
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
	engine      *Engine
	loading     *loading
	hash        string
	size        int
	held        *compile.Code   // given back when nothing is left of it
	code        *rewrite.Module // what runs
	imports     []rewrite.Func  // what it declares; those of a script are a description
	custom      []rewrite.Custom
	compiled    wazero.CompiledModule
	exports     map[string]Export
	birth       Birth
	resumes     bool         // it exports armature_resume
	interpreter *interpreter // what runs it; nil: it runs by itself
	program     Program      // of an interpreter, made with the snapshot
	dialect     *dialect     // it speaks; nil: the host's own
	snapshot    *snapshot    // nil when reason says why
	charged     int64        // bytes, to the engine
	reason      string
	pool        *pool

	retired sync.Once
	freed   chan struct{} // closed when nothing is left of it
}

func newModule(e *Engine, code *compile.Code) *Module {
	m := &Module{
		engine: e, hash: code.Hash, size: code.Size, held: code, code: &code.Module, reason: strings.Join(code.Unrestorable, "; "),
		imports: code.Imports, custom: code.Custom, compiled: code.Compiled,
		exports: map[string]Export{}, pool: newPool(), freed: make(chan struct{}),
	}
	if e.cfg.Birth != nil {
		m.birth = *e.cfg.Birth
	} else {
		m.birth = e.newBirth()
	}
	for _, x := range code.Exports {
		m.exports[x.Name] = Export{x.Name, typesOf(x.Params), typesOf(x.Results)}
	}
	_, m.resumes = m.exports[abi.Resume]
	m.resumes = m.resumes && e.cfg.Command == nil
	return m
}

func typesOf(b []byte) []ValueType {
	var ts []ValueType
	for _, t := range b {
		ts = append(ts, ValueType(t))
	}
	return ts
}

// retire closes the idle instances and, when the last running call has given
// its own back, frees the rest.
func (m *Module) retire() {
	m.retired.Do(func() {
		for _, in := range m.pool.close() {
			m.drop(in)
		}
		go m.freeWhenEmpty()
	})
}

func (m *Module) freeWhenEmpty() {
	<-m.pool.empty
	m.engine.idle.Give(account.Plugin, m.charged)
	m.held.Release()
	if err := m.snapshot.close(); err != nil {
		m.engine.log.Error("free a snapshot", "module", m.hash, "err", err)
	}
	e := m.engine
	e.mu.Lock()
	e.closing = slices.DeleteFunc(e.closing, func(c *Module) bool { return c == m })
	e.mu.Unlock()
	close(m.freed)
}

// Hash is the SHA-256 of the binary, in hexadecimal.
func (m *Module) Hash() string { return m.hash }

// Imports lists the functions the guest imports, WASI included, in the order it
// declares them.
func (m *Module) Imports() []ImportName {
	names := make([]ImportName, len(m.imports))
	for i, im := range m.imports {
		names[i] = ImportName{im.Module, im.Name}
	}
	return names
}

// Exports lists the exported functions by name.
func (m *Module) Exports() []Export {
	return slices.SortedFunc(maps.Values(m.exports), func(a, b Export) int { return strings.Compare(a.Name, b.Name) })
}

// HasMemory reports whether the module, or the interpreter that runs it, has a memory.
func (m *Module) HasMemory() bool { return m.code.HasMemory }

// Export returns the exported function of that name.
func (m *Module) Export(name string) (Export, bool) {
	x, ok := m.exports[name]
	return x, ok
}

// Sections returns the contents of the custom sections of that name.
func (m *Module) Sections(name string) [][]byte {
	var all [][]byte
	for _, s := range m.custom {
		if s.Name == name {
			all = append(all, s.Data)
		}
	}
	return all
}

// Pristine reports whether calls start from a snapshot in a reused instance.
// Otherwise each call makes an instance of its own, and reason says why.
func (m *Module) Pristine() (ok bool, reason string) { return m.reason == "", m.reason }

// Info describes a module for people.
type Info struct {
	Hash          string
	Size          int // bytes of the binary
	Imports       []ImportName
	Exports       []Export
	Pristine      bool
	Reason        string // why not
	SnapshotBytes uint64 // linear memory at the start of a call
	Idle, Live    int    // instances
}

// Inspect describes the module.
func (m *Module) Inspect() Info {
	info := Info{
		Hash: m.hash, Size: m.size, Imports: m.Imports(), Exports: m.Exports(),
		Pristine: m.reason == "", Reason: m.reason,
	}
	if m.snapshot != nil && m.snapshot.image != nil {
		info.SnapshotBytes = m.snapshot.image.Size()
	}
	info.Idle, info.Live = m.pool.count()
	return info
}
