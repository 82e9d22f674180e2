package engine

import (
	"slices"

	"armature/runtime/internal/rewrite"
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

// Kernel is what a dialect keeps for one instance beside the instance's own
// memory. Like that it is frozen with the snapshot, cloned from it, and reset to it
// after every call. It belongs to one goroutine at a time.
type Kernel interface {
	// Begin comes before an export runs, End after it has returned, with what it
	// returned in Call.Result. Either may end the call as Call.Abort does; an error
	// of End does too.
	Begin(c *Call)
	End(c *Call) error
	// Said is what the guest has said so far of why it fails, if anything: of use when
	// it traps.
	Said() string
	// Freeze keeps the present state as that of the snapshot. Nothing but Clone is
	// used afterwards, by several goroutines at a time.
	Freeze()
	// Clone makes a kernel in the frozen state, for an instance with another window.
	Clone(w *Window) Kernel
	// Reset goes back to the frozen state; false where the instance has grown too
	// large to be kept.
	Reset() bool
}

// dialectOf finds the dialect a module speaks; nil: the host's own.
func (e *Engine) dialectOf(imports []rewrite.Func) *dialect {
	for _, d := range e.dialects {
		for _, offered := range d.Imports() {
			if slices.ContainsFunc(imports, func(im rewrite.Func) bool { return im.Module == offered.Module }) {
				return d
			}
		}
	}
	return nil
}

// Dialect is the name of the dialect the module speaks; empty: the host's own.
func (m *Module) Dialect() string {
	if m.dialect == nil {
		return ""
	}
	return m.dialect.Name()
}

// Kernel is that of the instance the call runs in; nil unless its module speaks a
// dialect.
func (c *Call) Kernel() Kernel { return c.in.kernel }

// startup runs the exports by which the dialect has modules initialise
// themselves.
func (in *instance) startup(names []string) *Error {
	for _, name := range names {
		if err := in.run(name, 0); err != nil {
			return err
		}
	}
	return nil
}

// serveKernel runs the export between what the dialect does before and after it.
func (in *instance) serveKernel(c *Call, returns bool) (failed *Error) {
	defer in.recovered(c.Export, &failed)
	in.kernel.Begin(c)
	if err := in.run(c.Export, c.Arg); err != nil {
		if said := in.kernel.Said(); said != "" && (err.Reason == Trap || err.Reason == Exited) {
			err.Detail = said + " (" + err.Detail + ")"
		}
		return err
	}
	if returns {
		c.Result = in.stack[0]
	}
	if err := in.kernel.End(c); err != nil {
		return &Error{Reason: Aborted, Export: c.Export, Err: err}
	}
	return nil
}
