// Package instance makes single instances of guests, runs what they export, and puts
// them back into the state they began in: memory, globals, and what is kept beside
// both. It knows no call, limit or party; its errors are those of the WebAssembly
// runtime.
package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"armature/runtime/abi"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/internal/rewrite"
	"armature/runtime/sourcemap"
)

// Instance is one live module; one goroutine uses it at a time.
type Instance struct {
	Meter          Meter
	Stdout, Stderr Lines // of the call it serves

	source   *Source
	snapshot *Snapshot // what it is reset to; nil when it serves one call only
	mod      api.Module
	mem      api.Memory
	memory   linear.Memory // what is behind mem; nil if the guest has none
	kernel   KernelState   // nil unless the module is built for another host
	window   *Window       // of the kernel
	globals  []api.MutableGlobal
	funcs    map[string]api.Function // each with its own stack, made on first use
	stack    [MaxArgs]uint64         // arguments and result of Run
}

// bind finds the parts of the instance that calls and resets need.
func (in *Instance) bind() error {
	if in.source.Code.HasMemory { // else Memory returns an interface around nil
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
	for i, name := range in.source.Code.Globals {
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
	in.Meter.global, err = global(abi.ReservedPrefix + rewrite.Meter)
	return err
}

// Begin begins a call that may have so many bytes of memory, and asks by before it
// grows; nil: nobody is asked.
func (in *Instance) Begin(limit uint64, by linear.Admission) {
	if in.memory != nil {
		in.memory.Begin(limit, by)
	}
}

// Confine changes how much memory the call may have, in bytes.
func (in *Instance) Confine(limit uint64) {
	if in.memory != nil {
		in.memory.Confine(limit)
	}
}

// MaxArgs is how many arguments Run passes on.
const MaxArgs = 8

// ErrNoFunction is the error of an export that is no function, or none at all.
var ErrNoFunction = errors.New("the module has no such function")

// Run calls an exported function and returns its result, if it has one. A function that
// is running must not be run again before it returns, since each has one stack.
func (in *Instance) Run(ctx context.Context, export string, args ...uint64) (result uint64, err error) {
	f := in.function(export)
	if f == nil {
		return 0, ErrNoFunction
	}
	in.stack = [MaxArgs]uint64{}
	copy(in.stack[:], args)
	err = f.CallWithStack(ctx, in.stack[:])
	return in.stack[0], err
}

// function finds an exported function; nil if there is none.
func (in *Instance) function(name string) api.Function {
	f := in.funcs[name]
	if f == nil {
		if f = in.mod.ExportedFunction(name); f != nil {
			in.funcs[name] = f
		}
	}
	return f
}

// DropStack gives the stack of an exported function back, which may have grown large.
func (in *Instance) DropStack(export string) { delete(in.funcs, export) }

// Snapshot is what the instance is reset to; nil when it serves one call only.
func (in *Instance) Snapshot() *Snapshot { return in.snapshot }

// SourceMap says where in the sources of the code something is; nil: nobody knows.
func (in *Instance) SourceMap() *sourcemap.Table { return in.source.Code.Lines }

// Kernel is what is kept for the instance beside its memory; nil unless its module is
// built for another host.
func (in *Instance) Kernel() KernelState { return in.kernel }

// Globals are the values of the globals that calls can change.
func (in *Instance) Globals() []uint64 {
	values := make([]uint64, len(in.globals))
	for i, g := range in.globals {
		values[i] = g.Get()
	}
	return values
}

// Reset brings the instance back to its snapshot. It returns how many pages it wrote,
// and false where the instance has grown too large to be kept.
func (in *Instance) Reset() (pages int, ok bool, err error) {
	if in.memory != nil {
		var long bool
		if pages, long, err = in.memory.Reset(); err != nil {
			return pages, false, err
		}
		if long {
			// The runtime only grows memories. Its way to do so is to take
			// whatever we give it, so growing is how it learns the old length.
			in.memory.Shrink()
			if _, ok := in.mem.Grow(1); !ok {
				return pages, false, fmt.Errorf("the memory does not shrink")
			}
		}
		in.memory.Begin(0, nil) // nothing of the call stays
	}
	for i, g := range in.globals {
		g.Set(in.snapshot.globals[i])
	}
	return pages, in.kernel == nil || in.kernel.Reset(), nil
}

// Close frees the instance. The memory goes last, when nothing can call into
// the instance any more.
func (in *Instance) Close() error {
	if in.mod != nil {
		_ = in.mod.Close(context.Background())
	}
	in.window.close()
	if in.memory == nil {
		return nil
	}
	return in.memory.Close()
}
