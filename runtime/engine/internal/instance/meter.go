package instance

import (
	"github.com/tetratelabs/wazero/api"

	"armature/runtime/internal/rewrite"
)

// Meter is the global in which the code added to a guest counts fuel and call depth,
// and what has gone through it so far. Fuel is in units of about an instruction.
type Meter struct {
	global api.MutableGlobal
	spent  int64 // fuel of finished quanta
	given  int64 // fuel at the start of this one
}

// Give begins a quantum of a call that has spent so much: with that much fuel, and
// that many nested calls that it may still make.
func (m *Meter) Give(spent uint64, fuel int64, depth uint64) {
	m.spent, m.given = int64(spent), fuel
	m.global.Set(uint64(fuel)<<rewrite.FuelShift | depth)
}

// Used is the fuel the call has spent, nested calls included.
func (m *Meter) Used() uint64 {
	return uint64(m.spent + m.given - int64(m.global.Get())>>rewrite.FuelShift)
}

// Charge takes fuel of the quantum, more than there is of it if need be.
func (m *Meter) Charge(fuel uint64) { m.global.Set(m.global.Get() - fuel<<rewrite.FuelShift) }

// Empty reports whether no fuel of the quantum is left.
func (m *Meter) Empty() bool { return int64(m.global.Get())>>rewrite.FuelShift <= 0 }

// Depth is how many nested calls the guest may still make; false: it has made one
// too many.
func (m *Meter) Depth() (left uint64, ok bool) {
	meter := m.global.Get()
	return meter & rewrite.MaxDepth, meter&rewrite.DepthGuard == 0
}
