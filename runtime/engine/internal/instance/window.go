package instance

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

// KernelState is what is kept for one instance beside its own memory, where its module
// is built for another host. Like the memory it is frozen with the snapshot, cloned
// from it, and reset to it after every call. It belongs to one goroutine at a time.
type KernelState interface {
	// Freeze keeps the present state as that of the snapshot. Nothing but Clone is
	// used afterwards, by several goroutines at a time.
	Freeze()
	// Clone makes a kernel in the frozen state, for an instance with another window.
	Clone(w *Window) KernelState
	// Reset goes back to the frozen state; false where the instance has grown too
	// large to be kept.
	Reset() bool
}

// Windows is what windows of one kind are made of, and the kernels behind them.
type Windows struct {
	Over      string // the import module that they stand for
	Compiled  wazero.CompiledModule
	NewKernel func(w *Window) KernelState // of an instance that is not initialised yet
}

func (ws *Windows) open(ctx context.Context, rt wazero.Runtime) (*Window, error) {
	mod, err := rt.InstantiateModule(ctx, ws.Compiled, Anonymous)
	if err != nil {
		return nil, fmt.Errorf("make a window: %w", err)
	}
	return &Window{mod, mod.Memory()}, nil
}

// instead has what is instantiated under the context find w in place of what is
// behind it.
func (ws *Windows) instead(ctx context.Context, w *Window) context.Context {
	return experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == ws.Over {
			return w.mod
		}
		return nil
	})
}
