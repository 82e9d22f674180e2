package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"armature/core/fault"
)

// ErrClosed is what a closed engine answers.
var ErrClosed = errors.New("the engine is closed")

// loading is a module that is being loaded, or is.
type loading struct {
	done   chan struct{}
	module *Module
	err    error
	refs   int // guarded by Engine.mu
}

// Load compiles a binary and prepares its instances, or finds it loaded
// already. Every Load needs a Release. Whatever is wrong with the binary itself
// is a Validation fault.
func (e *Engine) Load(ctx context.Context, wasm []byte) (*Module, error) {
	if len(wasm) > e.cfg.MaxModule {
		return nil, fault.Invalid("", "The module has %d bytes; the limit is %d", len(wasm), e.cfg.MaxModule)
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])

	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	l, found := e.modules[hash]
	if !found {
		l = &loading{done: make(chan struct{})}
		e.modules[hash] = l
	}
	l.refs++
	e.mu.Unlock()

	if !found {
		// Others may wait for this load, so it does not end with one caller.
		go e.load(context.WithoutCancel(ctx), l, hash, wasm)
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		go func() { <-l.done; e.release(hash, l) }()
		return nil, ctx.Err()
	}
	if l.err != nil {
		e.release(hash, l)
		return nil, l.err
	}
	return l.module, nil
}

func (e *Engine) load(ctx context.Context, l *loading, hash string, wasm []byte) {
	e.compile <- struct{}{}
	l.module, l.err = e.prepare(ctx, hash, wasm)
	<-e.compile
	if l.err != nil {
		e.mu.Lock()
		delete(e.modules, hash) // so that the next Load tries again
		e.mu.Unlock()
	} else {
		l.module.loading = l
	}
	close(l.done)
}

// Release gives a loaded module back; the last one frees it.
func (m *Module) Release() { m.engine.release(m.hash, m.loading) }

func (e *Engine) release(hash string, l *loading) {
	e.mu.Lock()
	l.refs--
	last := l.refs == 0
	if last && e.modules[hash] == l {
		delete(e.modules, hash)
	}
	e.mu.Unlock()
	if last && l.module != nil {
		l.module.close()
	}
}

// prepare compiles a module.
func (e *Engine) prepare(ctx context.Context, hash string, wasm []byte) (*Module, error) {
	m := &Module{engine: e, hash: hash, size: len(wasm), exports: map[string]Export{}, sections: map[string][][]byte{}}
	code, err := e.rt.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The module is not valid WebAssembly: %v", err)
	}
	m.code = code
	for _, f := range code.ImportedFunctions() {
		module, name, _ := f.Import()
		m.imports = append(m.imports, ImportName{module, name})
	}
	for name, f := range code.ExportedFunctions() {
		m.exports[name] = Export{name, ours(f.ParamTypes()), ours(f.ResultTypes())}
	}
	for _, s := range code.CustomSections() {
		m.sections[s.Name()] = append(m.sections[s.Name()], s.Data())
	}
	m.reason = "snapshots are not implemented"
	in, err := m.instantiate(ctx, &Call{warm: true, limits: e.cfg.Maximum})
	if err != nil {
		_ = code.Close(ctx)
		return nil, fmt.Errorf("initialise the module: %w", err)
	}
	in.close()
	return m, nil
}

func (m *Module) close() { _ = m.code.Close(context.Background()) }

func ours(ts []api.ValueType) []ValueType {
	var vs []ValueType
	for _, t := range ts {
		vs = append(vs, ValueType(t))
	}
	return vs
}

// anonymous instances start nothing by themselves and have no name, so that any
// number of them can live.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()
