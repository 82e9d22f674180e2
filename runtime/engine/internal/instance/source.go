package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"armature/runtime/engine/internal/linear"
	"armature/runtime/internal/rewrite"
)

// Anonymous instances start nothing by themselves and have no name, so that any
// number of them can live.
var Anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// Source is what the instances of one module are made of. They share it.
type Source struct {
	Runtime  wazero.Runtime
	Memory   linear.Maker
	Config   func() (wazero.ModuleConfig, error) // of each instance; nil: Anonymous
	Code     *rewrite.Module
	Compiled wazero.CompiledModule // of Code
	Windows  *Windows              // nil unless the module is built for another host
}

// New makes an instance in the state of a snapshot; of nil, one that has not
// initialised itself, with an empty memory.
func (s *Source) New(ctx context.Context, of *Snapshot) (*Instance, error) {
	in := &Instance{source: s, snapshot: of}
	if err := in.open(ctx); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// open makes the memory and the instance around it.
func (in *Instance) open(ctx context.Context) (err error) {
	s := in.source
	if s.Windows != nil {
		if ctx, err = in.openKernel(ctx); err != nil {
			return err
		}
	}
	if s.Code.HasMemory {
		if err := in.openMemory(); err != nil {
			return fmt.Errorf("make a memory: %w", err)
		}
		ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
			func(_, _ uint64) experimental.LinearMemory { return in.memory }))
	}
	config := Anonymous
	if s.Config != nil {
		if config, err = s.Config(); err != nil {
			return err
		}
	}
	if in.mod, err = s.Runtime.InstantiateModule(ctx, s.Compiled, config); err != nil {
		return fmt.Errorf("instantiate: %w", err)
	}
	return in.bind()
}

func (in *Instance) openMemory() (err error) {
	limit := uint64(in.source.Code.MaxPages) << 16
	if in.snapshot != nil {
		in.memory, err = in.snapshot.image.Clone(limit)
	} else {
		in.memory, err = in.source.Memory.New(limit)
	}
	return err
}

// openKernel makes the instance's window and kernel, and returns the context in
// which the instance finds the window in place of the functions behind it.
func (in *Instance) openKernel(ctx context.Context) (context.Context, error) {
	s := in.source
	w, err := s.Windows.open(ctx, s.Runtime)
	if err != nil {
		return nil, err
	}
	in.window = w
	if in.snapshot != nil {
		in.kernel = in.snapshot.kernel.Clone(w)
	} else {
		in.kernel = s.Windows.NewKernel(w)
	}
	return s.Windows.instead(ctx, w), nil
}
