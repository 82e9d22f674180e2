package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/compile"
)

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
		l.module.release = func() { e.release(code.Hash, l) }
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
			e.cfg.Logger.Error("panic while loading a module", "module", code.Hash, "panic", r, "stack", string(debug.Stack()))
			m, err = nil, fmt.Errorf("load module %s: panic: %v", code.Hash, r)
		}
	}()
	return e.prepare(ctx, party, code)
}

// release gives a loaded module back. The last one frees it.
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

// forget takes a module of which nothing is left off the list of those to wait for.
func (e *Engine) forget(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closing = slices.DeleteFunc(e.closing, func(c *Module) bool { return c == m })
}
