package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/internal/rewrite"
)

// ErrClosed is what a closed engine answers.
var ErrClosed = errors.New("the engine is closed")

// maxTable is how many elements the tables of a module may have.
const maxTable = 1 << 20

// loading is a module that is being loaded, or is.
type loading struct {
	done   chan struct{}
	module *Module
	err    error
	refs   int // guarded by Engine.mu
}

// Load is LoadFor for the host itself.
func (e *Engine) Load(ctx context.Context, wasm []byte) (*Module, error) {
	return e.LoadFor(ctx, "", wasm)
}

// LoadFor compiles a binary and prepares its instances, or finds it loaded already.
// Every load needs a Release. The party, a site, is for whom: what is compiled, and
// what runs to initialise itself, is shared among parties. A load that nobody waits
// for any more ends. Whatever is wrong with the binary itself is a Validation fault.
func (e *Engine) LoadFor(ctx context.Context, party string, wasm []byte) (*Module, error) {
	if len(wasm) > e.cfg.MaxModule {
		return nil, fault.Invalid("", "The module has %d bytes; the limit is %d", len(wasm), e.cfg.MaxModule)
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	l, err := e.find(hash)
	if err != nil {
		return nil, err
	}
	if l == nil {
		code, err := e.code.Load(ctx, party, wasm)
		if err != nil {
			return nil, err
		}
		if l, err = e.begin(ctx, party, code); err != nil {
			return nil, err
		}
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

// find is the loading of a binary; nil if there is none.
func (e *Engine) find(hash string) (*loading, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.join(hash)
}

// join is find for whoever has the lock.
func (e *Engine) join(hash string) (*loading, error) {
	if e.closed {
		return nil, ErrClosed
	}
	l := e.modules[hash]
	if l != nil {
		l.refs++
	}
	return l, nil
}

// begin begins to make a module of code, unless somebody has meanwhile.
func (e *Engine) begin(ctx context.Context, party string, code *compile.Code) (*loading, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, err := e.join(code.Hash)
	if err != nil || l != nil {
		code.Release()
		return l, err
	}
	l = &loading{done: make(chan struct{}), refs: 1}
	e.modules[code.Hash] = l
	// Others may wait for this load, so it does not end with one caller.
	go e.load(context.WithoutCancel(ctx), l, party, code)
	return l, nil
}

func (e *Engine) load(ctx context.Context, l *loading, party string, code *compile.Code) {
	ctx = account.With(ctx, e.idle) // what a module takes is nobody's call
	l.module, l.err = e.prepareSafely(ctx, party, code)
	if l.err == nil {
		l.module.loading = l
	} else {
		e.code.Failed(code, l.err)
		e.mu.Lock()
		delete(e.modules, code.Hash) // so that the next Load tries again
		e.mu.Unlock()
	}
	close(l.done)
}

// prepareSafely keeps a panic over what strangers wrote from ending the process.
func (e *Engine) prepareSafely(ctx context.Context, party string, code *compile.Code) (m *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("panic while loading a module", "module", code.Hash, "panic", r, "stack", string(debug.Stack()))
			m, err = nil, fmt.Errorf("load module %s: panic: %v", code.Hash, r)
		}
	}()
	return e.prepare(ctx, party, code)
}

// Release gives a loaded module back. The last one frees it, once the calls
// that still run have ended.
func (m *Module) Release() { m.engine.release(m.hash, m.loading) }

func (e *Engine) release(hash string, l *loading) {
	e.mu.Lock()
	l.refs--
	last := l.refs == 0
	if last && e.modules[hash] == l {
		delete(e.modules, hash)
		if l.module != nil {
			e.closing = append(e.closing, l.module)
		}
	}
	e.mu.Unlock()
	if last && l.module != nil {
		l.module.retire()
	}
}

// accept says of a binary whether it can be run here, and whether it has to be compiled
// for that.
func (e *Engine) accept(code *rewrite.Module) (wanted bool, err error) {
	if err := e.checkImports(code.Imports); err != nil {
		return false, fault.Wrap(fault.Validation, "", err, "The module cannot be linked: %v", err)
	}
	for _, x := range code.Exports {
		if own := x.Name == abi.Initialize || x.Name == abi.Warm || x.Name == abi.Resume; own && len(x.Params)+len(x.Results) > 0 {
			return false, fault.Invalid("", "The module's export %s takes %v and returns %v; it has to take and return nothing",
				x.Name, typesOf(x.Params), typesOf(x.Results))
		}
	}
	return e.interpreterOf(code) == nil, nil
}

// prepare makes a module out of code.
func (e *Engine) prepare(ctx context.Context, party string, code *compile.Code) (*Module, error) {
	m := newModule(e, code)
	var err error
	if i := e.interpreterOf(m.code); i != nil {
		err = i.interpret(ctx, m)
	} else {
		m.dialect = e.dialectOf(m.imports)
	}
	if err == nil {
		err = m.prepareInstances(ctx, party)
	}
	if err != nil {
		m.retire()
		<-m.freed
		return nil, err
	}
	return m, nil
}

// prepareInstances takes the snapshot and proves that an instance can be made
// from it. Modules that a reset could not restore are only proved to initialise.
func (m *Module) prepareInstances(ctx context.Context, party string) error {
	if m.reason != "" {
		in, _, err := m.newInitialised(ctx, m.birthCall(party))
		if err != nil {
			return m.initFault(err)
		}
		in.close()
		return nil
	}
	var err error
	if m.snapshot, err = m.takeSnapshot(ctx, party); err != nil {
		return m.initFault(err)
	}
	if err := m.chargeSnapshot(ctx); err != nil {
		return err
	}
	m.code.Data = nil // it is in the snapshot, and would keep the whole binary alive
	in, err := m.newInstance(ctx, m.snapshot)
	if err != nil {
		return fmt.Errorf("make a first instance: %w", err)
	}
	if !m.pool.add(in, time.Now()) {
		m.drop(in)
		return ErrClosed
	}
	return nil
}

// initFault says that the guest's own initialisation failed, which is the
// author's to mend.
func (m *Module) initFault(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("initialise the module: %w", err)
	}
	if m.interpreter != nil && e.Reason == Aborted {
		return scriptFault(e)
	}
	f := e.Fault()
	if e.Reason == Unavailable || e.Reason == Canceled { // nothing is wrong with it
		return f
	}
	return &fault.Error{Kind: fault.Validation, Message: "The module fails to initialise: " + f.Message, Err: err, Trace: e.Stack}
}
