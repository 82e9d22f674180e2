package instance

// Size is the length of the memory, in bytes; zero without one.
func (in *Instance) Size() uint64 {
	if in.mem == nil {
		return 0
	}
	return uint64(in.mem.Size())
}

// Read returns length bytes of the memory at ptr, and no copy of them; false when they
// are not all in it.
func (in *Instance) Read(ptr, length uint32) ([]byte, bool) {
	if in.mem == nil {
		return nil, false
	}
	return in.mem.Read(ptr, length)
}

// Write copies b into the memory at ptr; false when it does not fit there.
func (in *Instance) Write(ptr uint32, b []byte) bool { return in.mem != nil && in.mem.Write(ptr, b) }

// Peak is the greatest length of the memory since Begin, in bytes.
func (in *Instance) Peak() uint64 {
	if in.memory == nil {
		return 0
	}
	return max(in.memory.Peak(), uint64(in.mem.Size()))
}

// Refused is the first length that the memory was not given since Begin, in bytes;
// zero when it got all that was asked for.
func (in *Instance) Refused() uint64 {
	if in.memory == nil {
		return 0
	}
	return in.memory.Refused()
}

// Kept is how much memory the instance keeps while it is idle, in bytes.
func (in *Instance) Kept() uint64 {
	if in.memory == nil {
		return 0
	}
	return in.memory.Kept()
}

// Trim gives back what it keeps. The instance must have been reset.
func (in *Instance) Trim() error {
	if in.memory == nil {
		return nil
	}
	return in.memory.Trim()
}
