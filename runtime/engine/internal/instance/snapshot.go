package instance

import (
	"fmt"

	"armature/runtime/engine/internal/linear"
)

// Snapshot is the state that instances of a module begin in and are reset to. Nil is
// that of no module.
type Snapshot struct {
	image   linear.Image // nil for a module without memory
	globals []uint64
	kernel  KernelState // nil unless the module is built for another host
}

// Freeze makes a snapshot of what the instance has become. The instance is of no use
// afterwards but to be closed.
func (in *Instance) Freeze() (*Snapshot, error) {
	s := &Snapshot{globals: in.Globals()}
	if s.kernel = in.kernel; s.kernel != nil {
		s.kernel.Freeze()
	}
	if in.mem == nil {
		return s, nil
	}
	contents, _ := in.mem.Read(0, in.mem.Size())
	var err error
	if s.image, err = in.source.Memory.Freeze(contents); err != nil {
		return nil, fmt.Errorf("freeze the memory: %w", err)
	}
	return s, nil
}

// Size is the length of the memory, in bytes.
func (s *Snapshot) Size() uint64 {
	if s == nil || s.image == nil {
		return 0
	}
	return s.image.Size()
}

// Contents are those of the memory up to the last byte that is not zero; read only.
func (s *Snapshot) Contents() []byte {
	if s == nil || s.image == nil {
		return nil
	}
	return s.image.Bytes()
}

// Globals are the values of the globals that calls can change; read only.
func (s *Snapshot) Globals() []uint64 { return s.globals }

// Close frees the snapshot. No instance of it may live.
func (s *Snapshot) Close() error {
	if s == nil || s.image == nil {
		return nil
	}
	return s.image.Close()
}
