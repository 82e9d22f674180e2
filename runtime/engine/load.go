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
	"armature/runtime/engine/internal/rewrite"
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
	ctx = account.With(ctx, e.idle) // what a module takes is nobody's call
	l.module, l.err = e.prepareSafely(ctx, hash, wasm)
	<-e.compile
	if l.err == nil {
		l.module.loading = l
	} else {
		e.mu.Lock()
		delete(e.modules, hash) // so that the next Load tries again
		e.mu.Unlock()
	}
	close(l.done)
}

// prepareSafely keeps a panic of the compiler, which reads what strangers wrote,
// from ending the process.
func (e *Engine) prepareSafely(ctx context.Context, hash string, wasm []byte) (m *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("panic while loading a module", "module", hash, "panic", r, "stack", string(debug.Stack()))
			m, err = nil, fmt.Errorf("load module %s: panic: %v", hash, r)
		}
	}()
	return e.prepare(ctx, hash, wasm)
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

// prepare makes a module out of a binary.
func (e *Engine) prepare(ctx context.Context, hash string, wasm []byte) (*Module, error) {
	code, err := rewrite.Rewrite(wasm, rewrite.Options{
		Prefix: abi.ReservedPrefix, MaxPages: e.maxPages(), MaxTable: maxTable,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The module cannot be used: %v", err)
	}
	if err := e.checkImports(code.Imports); err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The module cannot be linked: %v", err)
	}
	m := newModule(e, hash, len(wasm), code)
	for _, name := range []string{abi.Initialize, abi.Warm, abi.Resume} {
		if x, ok := m.exports[name]; ok && len(x.Params)+len(x.Results) > 0 {
			return nil, fault.Invalid("", "The module's export %s takes %v and returns %v; it has to take and return nothing", name, x.Params, x.Results)
		}
	}
	if i := e.interpreterOf(code); i != nil {
		if err := i.interpret(ctx, m); err != nil {
			return nil, err
		}
	} else {
		m.dialect = e.dialectOf(code.Imports)
		if m.compiled, err = e.compileCached(ctx, code.Binary); err != nil {
			return nil, fault.Wrap(fault.Validation, "", err, "The module is not valid WebAssembly: %v", err)
		}
	}
	code.Binary = nil
	if err := m.prepareInstances(ctx); err != nil {
		m.retire()
		<-m.freed
		return nil, err
	}
	return m, nil
}

// prepareInstances takes the snapshot and proves that an instance can be made
// from it. Modules that a reset could not restore are only proved to initialise.
func (m *Module) prepareInstances(ctx context.Context) error {
	if m.reason != "" {
		in, _, err := m.newInitialised(ctx, m.engine.cfg.Init)
		if err != nil {
			return m.initFault(err)
		}
		in.close()
		return nil
	}
	var err error
	if m.snapshot, err = m.takeSnapshot(ctx); err != nil {
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
	return &fault.Error{Kind: fault.Validation, Message: "The module fails to initialise: " + f.Message, Err: err, Trace: e.Stack}
}
