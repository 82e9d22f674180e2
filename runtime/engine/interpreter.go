package engine

import (
	"context"
	"fmt"
	"sync"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/link"
)

// Interpreter is a module that runs the scripts of others. A script is a module
// too, for whoever looks at it: it declares imports and exports. But what it
// declares is a description, and what it does stands as text in a custom
// section. The engine runs such a module in a clone of the interpreter into
// which the text was read before the snapshot.
//
// All scripts share the interpreter's machine code; each has a snapshot.
type Interpreter interface {
	// Section names the custom section that makes a module a script.
	Section() string
	// Binary is the interpreter.
	Binary() []byte
	// Imports are what it imports besides WASI, in import modules of their own.
	// No other module can import them.
	Imports() []Import
	// Boot reads a script into a fresh instance of the interpreter, driving it
	// by Call.Invoke. Call.Binary describes the script. An error, or a fault that
	// a host function aborts with, is what is wrong with the script.
	Boot(c *Call) (Program, error)
}

// interpreter is an Interpreter in this engine, compiled when the first script
// needs it.
type interpreter struct {
	Interpreter
	service *compile.Service
	mu      sync.Mutex
	code    *compile.Code // nil until then
}

// newInterpreters defines the imports of the interpreters, which are offered to
// nobody else.
func newInterpreters(ctx context.Context, code *compile.Service, all []Interpreter) ([]*interpreter, error) {
	interpreters := make([]*interpreter, len(all))
	for i, in := range all {
		if err := link.Modules(ctx, code.Runtime(), link.Funcs(in.Imports())); err != nil {
			return nil, err
		}
		interpreters[i] = &interpreter{Interpreter: in, service: code}
	}
	return interpreters, nil
}

// prepare compiles the interpreter once for the life of the engine.
func (i *interpreter) prepare(ctx context.Context) (*compile.Code, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.code != nil {
		return i.code, nil
	}
	code, err := i.service.Own(context.WithoutCancel(ctx), i.Binary())
	if err == nil && len(code.Unrestorable) > 0 {
		err = fmt.Errorf("its calls cannot be undone: %v", code.Unrestorable)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the interpreter of %s: %w", i.Section(), err)
	}
	i.code = code
	return code, nil
}

// interpretedBy makes the module, so far a description, one that i runs.
func (m *Module) interpretedBy(ctx context.Context, i *interpreter) error {
	shared, err := i.prepare(ctx)
	if err != nil {
		return err
	}
	code := shared.Module // of which prepareInstances drops the data
	m.interpreter, m.source.Code, m.source.Compiled, m.reason = i, &code, shared.Compiled, ""
	return nil
}

// boot runs the interpreter's own initialisation and reads the script.
func (m *Module) boot(c *Call) *Error {
	if err := call.Run(c, abi.Initialize); err != nil {
		return err
	}
	return call.Drive(c, "the script", func() (err error) {
		m.subject.Program, err = m.interpreter.Boot(c)
		return err
	})
}

// scriptFault is a fault about a script, with what it says and where.
func scriptFault(e *Error) *fault.Error {
	f := *e.Fault()
	f.Kind, f.Err = fault.Validation, e
	return &f
}
