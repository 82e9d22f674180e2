package engine

import (
	"errors"
	"strings"
	"sync"

	"armature/core/account"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/instance"
)

// ErrClosed is what a closed engine answers.
var ErrClosed = errors.New("the engine is closed")

// Module is a loaded binary, shared by all who loaded the same bytes.
type Module struct {
	Binary
	common      *common
	subject     call.Subject // of its calls
	source      instance.Source
	held        *compile.Code // given back when nothing is left of it
	birth       Birth
	interpreter *interpreter       // what runs it; nil: it runs by itself
	dialect     *dialect           // it speaks; nil: the host's own
	snapshot    *instance.Snapshot // nil when reason says why
	charged     int64              // bytes, to the engine
	reason      string
	pool        *pool

	release func()        // by one of those who loaded it
	forget  func(*Module) // that is, once nothing is left of it
	retired sync.Once
	freed   chan struct{} // closed when nothing is left of it
}

func newModule(common *common, code *compile.Code, forget func(*Module)) *Module {
	m := &Module{
		Binary: call.BinaryOf(code.Hash, code.Size, &code.Module), common: common, held: code,
		reason: strings.Join(code.Unrestorable, "; "), pool: newPool(), forget: forget, freed: make(chan struct{}),
	}
	m.source = instance.Source{Runtime: common.rt, Memory: common.memory, Code: &code.Module, Compiled: code.Compiled}
	m.subject = call.Subject{Host: &common.host, Binary: &m.Binary}
	if p := common.cfg.Command; p != nil {
		m.source.Config = p.ModuleConfig
	} else {
		_, m.subject.Resumes = m.Export(abi.Resume)
	}
	if common.cfg.Birth != nil {
		m.birth = *common.cfg.Birth
	} else {
		m.birth = newBirth(common.clocks)
	}
	return m
}

// Release gives a loaded module back. The last one frees it, once the calls
// that still run have ended.
func (m *Module) Release() { m.release() }

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
	m.common.idle.Give(account.Plugin, m.charged)
	m.held.Release()
	if err := m.snapshot.Close(); err != nil {
		m.common.cfg.Logger.Error("free a snapshot", "module", m.Hash(), "err", err)
	}
	m.forget(m)
	close(m.freed)
}

// drop closes an instance that is in nobody's hands.
func (m *Module) drop(in *resident) {
	in.close()
	m.pool.gone()
}

// trimIdle has idle instances give their pages back: the longest idle ones that match.
// If all of it is needed, those are closed that cannot.
func (m *Module) trimIdle(match func(*resident) bool, all bool) {
	idle := m.pool.takeIdle(match)
	kept := idle[:0]
	for _, in := range idle {
		if err := in.trim(); err != nil {
			m.common.cfg.Logger.Warn("give an idle instance's pages back", "module", m.Hash(), "err", err)
			m.drop(in)
			continue
		}
		if all && in.kept > 0 {
			m.drop(in)
			continue
		}
		kept = append(kept, in)
	}
	for _, in := range m.pool.putBack(kept) {
		m.drop(in)
	}
}

// HasMemory reports whether the module, or the interpreter that runs it, has a memory.
func (m *Module) HasMemory() bool { return m.source.Code.HasMemory }

// Limits is what a call of the module with limits l gets: the engine's defaults
// where l says nothing, and never more than its maximum.
func (m *Module) Limits(l Limits) Limits { return m.common.host.Effective(l) }

// Birth is what this module was told while it initialised itself.
func (m *Module) Birth() Birth { return m.birth }

// Dialect is the name of the dialect the module speaks; empty: the host's own.
func (m *Module) Dialect() string {
	if m.dialect == nil {
		return ""
	}
	return m.dialect.Name()
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
		Hash: m.Hash(), Size: m.Size(), Imports: m.Imports(), Exports: m.Exports(),
		Pristine: m.reason == "", Reason: m.reason, SnapshotBytes: m.snapshot.Size(),
	}
	info.Idle, info.Live = m.pool.count()
	return info
}
