package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"armature/core/account"
	"armature/runtime/abi"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/internal/rewrite"
)

// anonymous instances start nothing by themselves and have no name, so that any
// number of them can live.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// instance is one live module; one goroutine uses it at a time. It is the
// context of its own calls: host functions find it there without an allocation.
type instance struct {
	module   *Module
	snapshot *snapshot // what it is reset to; nil when it serves one call only
	mod      api.Module
	mem      api.Memory
	memory   linear.Memory // what is behind mem; nil if the guest has none
	kernel   Kernel        // nil unless the module speaks a dialect
	window   *Window       // of the kernel
	globals  []api.MutableGlobal
	meter    api.MutableGlobal
	funcs    map[string]api.Function // each with its own stack, made on first use

	call      *Call
	spent     int64  // fuel of finished quanta
	given     int64  // fuel at the start of this one
	turned    uint64 // what the call had used when others ran last
	stack     [2]uint64
	args      [maxInvoke]uint64 // and result of Call.Invoke
	stdout    lines
	stderr    lines
	idleSince time.Time
	kept      int64 // bytes charged to the engine
}

// bind finds the parts of the instance that calls and resets need.
func (in *instance) bind() error {
	if in.module.code.HasMemory { // else Memory returns an interface around nil
		in.mem = in.mod.Memory()
	}
	in.funcs = map[string]api.Function{}
	global := func(name string) (api.MutableGlobal, error) {
		g, ok := in.mod.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return nil, fmt.Errorf("global %q is missing", name)
		}
		return g, nil
	}
	for i, name := range in.module.code.Globals {
		g, err := global(name)
		if err != nil {
			return err
		}
		in.globals = append(in.globals, g)
		if in.snapshot != nil {
			g.Set(in.snapshot.globals[i])
		}
	}
	var err error
	in.meter, err = global(abi.ReservedPrefix + rewrite.Meter)
	return err
}

// begin makes c the call the instance serves.
func (in *instance) begin(c *Call) {
	in.call, c.in = c, in
	if in.memory != nil {
		in.memory.Begin(c.limits.Memory, in)
	}
	in.startMeter(c)
}

// function finds an exported function; nil if there is none.
func (in *instance) function(name string) api.Function {
	f := in.funcs[name]
	if f == nil {
		if f = in.mod.ExportedFunction(name); f != nil {
			in.funcs[name] = f
		}
	}
	return f
}

// run calls an export; its result is in in.stack.
func (in *instance) run(name string, arg int32) *Error {
	f := in.function(name)
	if f == nil {
		return &Error{Reason: BadExport, Export: name, Detail: "the module has no such function"}
	}
	in.stack = [2]uint64{uint64(uint32(arg))}
	err := f.CallWithStack(in, in.stack[:])
	if err == nil {
		return nil
	}
	in.stack[0] = 0 // what a guest returns that exits with code zero
	return in.failed(name, err)
}

// failed says why an export did not return; nil if the guest merely exited.
func (in *instance) failed(name string, err error) *Error {
	e := failure(name, err, in.module.code.Lines)
	if e == nil {
		return nil
	}
	if e.Reason == HostPanic {
		in.module.engine.log.Error("panic in a host function", "module", in.module.hash, "export", name, "err", err)
	}
	if e.Reason == TooDeep {
		delete(in.funcs, name) // and with it the stack, which has grown large
	}
	if e.Reason == Trap || e.Reason == Exited || e.Reason == BadPointer && in.kernel != nil {
		if refused := in.refused(); refused > 0 {
			e.Detail = fmt.Sprintf("%d bytes asked for, then %s", refused, e.Detail)
			e.Reason = OutOfMemory
		}
	}
	return e
}

// refused is how many bytes the guest asked for in vain; zero when it got what it
// asked for.
func (in *instance) refused() (n uint64) {
	if in.memory != nil {
		n = in.memory.Refused()
	}
	if in.call != nil {
		n = max(n, in.call.refused)
	}
	return n
}

// account takes down what the call has cost and detaches it.
func (in *instance) account(c *Call) {
	c.usage.Fuel = in.used()
	if in.mem != nil {
		c.usage.MemoryPeak = max(in.memory.Peak(), uint64(in.mem.Size()))
	}
	c.usage.MemoryPeak += c.reservedPeak
	c.flushOutput()
	in.call, c.in = nil, nil
}

// reset brings the instance back to its snapshot.
func (in *instance) reset() (pages int, err error) {
	if in.memory != nil {
		var long bool
		if pages, long, err = in.memory.Reset(); err != nil {
			return pages, err
		}
		if long {
			// The runtime only grows memories. Its way to do so is to take
			// whatever we give it, so growing is how it learns the old length.
			in.memory.Shrink()
			if _, ok := in.mem.Grow(1); !ok {
				return pages, fmt.Errorf("the memory does not shrink")
			}
		}
	}
	for i, g := range in.globals {
		g.Set(in.snapshot.globals[i])
	}
	return pages, nil
}

func (in *instance) trim() error {
	if in.memory == nil {
		return nil
	}
	err := in.memory.Trim()
	in.keep() // less than before
	return err
}

// close frees the instance. The memory goes last, when nothing can call into
// the instance any more.
func (in *instance) close() {
	if in.mod != nil {
		_ = in.mod.Close(context.Background())
	}
	in.window.close()
	if in.memory != nil {
		if err := in.memory.Close(); err != nil {
			in.module.engine.log.Error("free a guest's memory", "err", err)
		}
	}
	in.module.engine.idle.Give(account.Guest, in.kept)
	in.module.engine.live.Add(-1)
}

// The instance as a context: the call's, and itself under instanceKey.

func (in *instance) context() context.Context {
	if in.call == nil {
		return context.Background()
	}
	return in.call.base
}

// Deadline is the caller's.
func (in *instance) Deadline() (time.Time, bool) { return in.context().Deadline() }

// Done is the caller's.
func (in *instance) Done() <-chan struct{} { return in.context().Done() }

// Err is the caller's.
func (in *instance) Err() error { return in.context().Err() }

// Value finds the instance itself, then what the caller's context has.
func (in *instance) Value(key any) any {
	if key == (instanceKey{}) {
		return in
	}
	return in.context().Value(key)
}
