package engine

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"armature/runtime/engine/internal/link"
)

// Birth is what the modules of an engine are told of the world while they
// initialise themselves, which becomes part of every call's state: random seeds
// of hash tables, for instance. Who knows it can bring about the same state in
// another process.
type Birth struct {
	Seed      []byte `json:"seed"`      // of all random bytes, 32
	Wall      int64  `json:"wall"`      // Unix time in nanoseconds
	Monotonic int64  `json:"monotonic"` // in nanoseconds
}

// newBirth is one of this moment that nobody can guess.
func newBirth(clocks link.Clocks) Birth {
	seed := make([]byte, 32)
	_, _ = rand.Read(seed) // never fails
	return Birth{Seed: seed, Wall: clocks.Wall(), Monotonic: clocks.Monotonic()}
}

// newborn tells a module that initialises itself its Birth. Time passes by a
// microsecond at every look, so that nobody waits for it for ever.
type newborn struct {
	birth   Birth
	random  *mathrand.ChaCha8
	elapsed int64
}

func (b Birth) senses() *newborn {
	return &newborn{birth: b, random: mathrand.NewChaCha8([32]byte(b.Seed))}
}

// Clock implements Senses.
func (n *newborn) Clock(_ *Call, id uint32, _ int64) int64 {
	n.elapsed += int64(time.Microsecond)
	if id == link.ClockRealtime {
		return n.birth.Wall + n.elapsed
	}
	return n.birth.Monotonic + n.elapsed
}

// Random implements Senses.
func (n *newborn) Random(_ *Call, b []byte) { _, _ = n.random.Read(b) }
