package engine

import (
	"context"
	"fmt"
	"sync"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/internal/rewrite"
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
	// by Call.Invoke. Call.Module describes the script. An error, or a fault that
	// a host function aborts with, is what is wrong with the script.
	Boot(c *Call) (Program, error)
}

// Program is a script in the state of the snapshot. It must not change.
type Program interface {
	// Run runs c.Export in a clone of the snapshot. An error ends the call as
	// Call.Abort would.
	Run(c *Call) error
	// Stack says where a script was when the engine ended its call: functions,
	// innermost first. It gets a quantum of fuel of its own.
	Stack(c *Call) []string
}

// interpreter is an Interpreter in this engine, compiled when the first script
// needs it.
type interpreter struct {
	Interpreter
	mu   sync.Mutex
	code *compile.Code // nil until then
}

// linkInterpreters defines the imports of the interpreters, which
// checkImports, knowing the others only, allows nobody else.
func (e *Engine) linkInterpreters(ctx context.Context) error {
	for _, i := range e.cfg.Interpreters {
		if err := e.linkModules(ctx, e.counted(i.Imports())); err != nil {
			return err
		}
		e.interpreters = append(e.interpreters, &interpreter{Interpreter: i})
	}
	return nil
}

// interpreterOf finds what runs a module; nil for one that runs by itself.
func (e *Engine) interpreterOf(code *rewrite.Module) *interpreter {
	for _, s := range code.Custom {
		for _, i := range e.interpreters {
			if i.Section() == s.Name {
				return i
			}
		}
	}
	return nil
}

// prepare compiles the interpreter once for the life of the engine.
func (i *interpreter) prepare(ctx context.Context, e *Engine) (*compile.Code, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.code != nil {
		return i.code, nil
	}
	code, err := e.code.Own(context.WithoutCancel(ctx), i.Binary())
	if err == nil && len(code.Unrestorable) > 0 {
		err = fmt.Errorf("its calls cannot be undone: %v", code.Unrestorable)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the interpreter of %s: %w", i.Section(), err)
	}
	i.code = code
	return code, nil
}

// interpret makes the module m, so far a description, one that i runs.
func (i *interpreter) interpret(ctx context.Context, m *Module) error {
	shared, err := i.prepare(ctx, m.engine)
	if err != nil {
		return err
	}
	code := shared.Module // of which prepareInstances drops the data
	m.interpreter, m.code, m.compiled, m.reason = i, &code, shared.Compiled, ""
	return nil
}

// boot runs the interpreter's own initialisation and reads the script.
func (in *instance) boot(c *Call) (failed *Error) {
	if err := in.run(abi.Initialize, 0); err != nil {
		return err
	}
	defer in.recovered("the script", &failed)
	program, err := in.module.interpreter.Boot(c)
	if err != nil {
		return &Error{Reason: Aborted, Export: "the script", Err: err}
	}
	in.module.program = program
	return nil
}

// interpret runs an export of a script.
func (in *instance) interpret(c *Call) *Error {
	failed := in.runProgram(c)
	if failed != nil && (failed.Reason == OutOfFuel || failed.Reason == Deadline || failed.Reason == HostCalls) {
		failed.Stack = in.scriptStack(c)
	}
	return failed
}

func (in *instance) runProgram(c *Call) (failed *Error) {
	defer in.recovered(c.Export, &failed)
	if err := in.module.program.Run(c); err != nil {
		return &Error{Reason: Aborted, Export: c.Export, Err: err}
	}
	return nil
}

// scriptStack asks the interpreter, whose memory is as the guest left it, where
// the script was. That costs the call nothing.
func (in *instance) scriptStack(c *Call) (stack []string) {
	used := in.used()
	in.spent = int64(used)
	in.refill(quantum, uint64(c.limits.Depth))
	defer func() {
		in.spent = int64(used)
		in.refill(0, 0)
	}()
	var failed *Error
	defer in.recovered(c.Export, &failed) // then it is not known
	return in.module.program.Stack(c)
}

// recovered ends what an interpreter does outside of the guest, where nothing
// else catches an abort.
func (in *instance) recovered(export string, failed **Error) {
	switch r := recover().(type) {
	case nil:
	case *abort:
		*failed = &Error{Reason: r.reason, Export: export, Detail: r.detail, Err: r.err}
	default:
		in.module.engine.log.Error("panic in an interpreter", "module", in.module.hash, "export", export, "panic", r)
		*failed = &Error{Reason: HostPanic, Export: export, Detail: fmt.Sprint(r)}
	}
}

// maxInvoke is how many parameters Invoke passes on.
const maxInvoke = 8

// Invoke runs a function that the module running the call exports, and returns
// its result, if any. It is for interpreters and their host functions: a function
// that is already running must not be invoked again before it returns. When it
// fails, the call ends.
func (c *Call) Invoke(export string, args ...uint64) uint64 {
	in := c.in
	f := in.function(export)
	if f == nil {
		panic(&abort{reason: BadExport, detail: export + ": the interpreter has no such function"})
	}
	var stack *[maxInvoke]uint64 = &in.args
	copy(stack[:], args)
	if err := f.CallWithStack(in, stack[:]); err != nil {
		if e := in.failed(export, err); e != nil {
			panic(&abort{reason: e.Reason, detail: e.Detail, err: e.Err})
		}
	}
	return stack[0]
}

// scriptFault is a fault about a script, with what it says and where.
func scriptFault(e *Error) *fault.Error {
	f := *e.Fault()
	f.Kind, f.Err = fault.Validation, e
	return &f
}

// Program is the script the call runs; nil while it is being read, and for a
// module that is none.
func (c *Call) Program() Program { return c.module.program }
