package engine

import (
	"context"
	"fmt"

	"armature/runtime/compile"
	"armature/runtime/engine/internal/instance"
)

// Dialect lets modules run that are built for another host: it offers the
// functions they import and keeps the memory that this host would keep for them.
// A module speaks the dialect when it imports one of its functions.
type Dialect interface {
	// Name is how Module.Dialect tells it.
	Name() string
	// Imports are the functions it offers, in import modules of its own.
	Imports() []Import
	// Startup names the exports that initialise a module, in order. They run once,
	// before the snapshot, with zeroes for parameters.
	Startup(exports func(name string) (Export, bool)) []string
	// Window is the binary of the module that stands in each instance for the named
	// one of the dialect's import modules. It imports that one, and exports all of
	// it, what it does by itself and what it does not.
	Window() (over string, binary []byte)
	// NewKernel makes the kernel of an instance that is not initialised yet.
	NewKernel(w *Window) Kernel
}

// dialect is a Dialect in this engine.
type dialect struct {
	Dialect
	windows *instance.Windows
}

// newDialects compiles the windows.
func newDialects(ctx context.Context, code *compile.Service, all []Dialect) ([]*dialect, error) {
	dialects := make([]*dialect, len(all))
	for i, d := range all {
		over, binary := d.Window()
		compiled, err := code.OwnSmall(ctx, binary)
		if err != nil {
			return nil, fmt.Errorf("the window of %s: %w", d.Name(), err)
		}
		dialects[i] = &dialect{d, &instance.Windows{
			Over: over, Compiled: compiled, NewKernel: func(w *Window) KernelState { return d.NewKernel(w) },
		}}
	}
	return dialects, nil
}

// speak makes the module one of the dialect d; nil: the host's own.
func (m *Module) speak(d *dialect) {
	if m.dialect = d; d != nil {
		m.source.Windows = d.windows
	}
}
