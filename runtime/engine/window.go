package engine

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Window is a module of the dialect's own that stands between an instance and the
// host functions: what a guest calls for every few bytes is done there, without
// leaving WebAssembly. It has a memory, which the kernel works with, and globals by
// which the kernel tells it what it may do by itself. It is as trusted as the host:
// nothing meters it.
type Window struct {
	mod api.Module
	mem api.Memory
}

// Bytes are the window's memory, until it grows.
func (w *Window) Bytes() []byte {
	b, _ := w.mem.Read(0, w.mem.Size())
	return b
}

// Grow makes the memory at least n bytes long and returns it.
func (w *Window) Grow(n int) []byte {
	const page = 64 << 10
	if have := int(w.mem.Size()); n > have {
		if _, ok := w.mem.Grow(uint32((n - have + page - 1) / page)); !ok {
			panic(fmt.Errorf("a window does not grow to %d bytes", n)) // it has no maximum
		}
	}
	return w.Bytes()
}

// Global finds an exported mutable global.
func (w *Window) Global(name string) interface{ Set(uint64) } {
	return w.mod.ExportedGlobal(name).(api.MutableGlobal)
}

func (w *Window) close() {
	if w != nil && w.mod != nil {
		_ = w.mod.Close(context.Background())
	}
}

// dialect is a Dialect in this engine.
type dialect struct {
	Dialect
	over   string // the import module that windows stand for
	window wazero.CompiledModule
}

// linkDialects compiles the windows; the functions themselves have been linked.
func (e *Engine) linkDialects(ctx context.Context) error {
	for _, d := range e.cfg.Dialects {
		over, binary := d.Window()
		compiled, err := e.code.OwnSmall(ctx, binary)
		if err != nil {
			return fmt.Errorf("the window of %s: %w", d.Name(), err)
		}
		e.dialects = append(e.dialects, &dialect{d, over, compiled})
	}
	return nil
}

// openKernel makes the instance's window and kernel, and returns the context in
// which the instance finds the window in place of the functions behind it.
func (in *instance) openKernel(ctx context.Context) (context.Context, error) {
	d := in.module.dialect
	mod, err := in.module.engine.rt.InstantiateModule(ctx, d.window, anonymous)
	if err != nil {
		return nil, fmt.Errorf("make a window: %w", err)
	}
	in.window = &Window{mod, mod.Memory()}
	if in.snapshot != nil {
		in.kernel = in.snapshot.kernel.Clone(in.window)
	} else {
		in.kernel = d.NewKernel(in.window)
	}
	return experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == d.over {
			return mod
		}
		return nil
	}), nil
}
