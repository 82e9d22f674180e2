package call

import (
	"time"

	"armature/runtime/abi"
)

// Limits bound one call. A zero field takes the engine's default; every field
// is capped by the engine's maximum.
type Limits struct {
	Memory    uint64        // bytes of linear memory, the snapshot included
	Fuel      uint64        // units of work, about one per instruction
	Wall      time.Duration // time on the clock, waiting included
	Depth     int           // nested calls inside the guest
	HostCalls int           // calls of imported host functions
}

// PerSecond is how much fuel a second of a processor is taken for. Guests that
// work as methods do, with text and JSON, use about this much; tight loops of
// arithmetic several times as much, so they get less than a second for it. See
// the metric fuel/s of BenchmarkCall.
const PerSecond = 4_000_000_000

// timeOf is how long fuel is taken for.
func timeOf(fuel uint64) time.Duration {
	return time.Duration(fuel/PerSecond)*time.Second + time.Duration(fuel%PerSecond)*time.Second/PerSecond
}

// DefaultLimits is what a call gets when neither it nor the engine's
// configuration says otherwise.
func DefaultLimits() Limits {
	return Limits{
		Memory:    abi.DefaultMemory,
		Fuel:      abi.DefaultCPUMs * PerSecond / 1000,
		Wall:      abi.DefaultWallMs * time.Millisecond,
		Depth:     abi.DefaultDepth,
		HostCalls: abi.DefaultHostCalls,
	}
}

// MaxLimits is the ceiling of a call when the engine's configuration names none.
func MaxLimits() Limits {
	return Limits{
		Memory:    abi.MaxMemory,
		Fuel:      abi.MaxCPUMs * PerSecond / 1000,
		Wall:      abi.MaxWallMs * time.Millisecond,
		Depth:     abi.MaxDepth,
		HostCalls: abi.MaxHostCalls,
	}
}

// Or returns l with the zero fields taken from d.
func (l Limits) Or(d Limits) Limits {
	return Limits{
		Memory:    Or(l.Memory, d.Memory),
		Fuel:      Or(l.Fuel, d.Fuel),
		Wall:      Or(l.Wall, d.Wall),
		Depth:     Or(l.Depth, d.Depth),
		HostCalls: Or(l.HostCalls, d.HostCalls),
	}
}

// Effective is what a call with limits l gets: the engine's defaults where l says
// nothing, and never more than its maximum.
func (h *Host) Effective(l Limits) Limits { return l.Or(h.Defaults).Min(h.Maximum) }

// Min returns the smaller of l and m, field by field; a zero field of m does
// not bound.
func (l Limits) Min(m Limits) Limits {
	return Limits{
		Memory:    least(l.Memory, m.Memory),
		Fuel:      least(l.Fuel, m.Fuel),
		Wall:      least(l.Wall, m.Wall),
		Depth:     least(l.Depth, m.Depth),
		HostCalls: least(l.HostCalls, m.HostCalls),
	}
}

type limit interface {
	~int | ~int64 | ~uint64
}

// Or is v if it is more than zero, and else d.
func Or[T limit](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

func least[T limit](v, m T) T {
	if m > 0 && (v <= 0 || v > m) {
		return m
	}
	return v
}

// Usage is what a call cost. Fuel is deterministic: the same call with the same
// limits of the same module costs the same everywhere.
type Usage struct {
	Fuel       uint64        // nested calls included
	Nested     uint64        // of it, that of nested calls
	Wall       time.Duration // queueing included
	Queued     time.Duration // waiting for an admission slot
	MemoryPeak uint64        // the largest linear memory, in bytes
	HostCalls  int
	Yields     int  // how often the guest was interrupted to check its limits
	ResetPages int  // pages copied back to reach the snapshot again
	Fresh      bool // the call made its own instance: none was idle, or the module has no snapshot
}
