package engine

import (
	"bytes"
	"testing"
	"time"
)

// Pristine checks, for the tests of this package, that every idle instance of m
// equals the snapshot byte for byte: memory, its length, globals.
func Pristine(tb testing.TB, m *Module) (instances int) {
	tb.Helper()
	idle := m.pool.takeIdle(func(*instance) bool { return true })
	defer m.pool.putBack(idle)
	for _, in := range idle {
		if im := m.snapshot.image; im != nil {
			got, _ := in.mem.Read(0, in.mem.Size())
			if uint64(len(got)) != im.Size() {
				tb.Fatalf("memory has %d bytes; the snapshot %d", len(got), im.Size())
			}
			used := im.Bytes()
			if !bytes.Equal(got[:len(used)], used) {
				tb.Fatal("memory differs from the snapshot")
			}
			for i, b := range got[len(used):] {
				if b != 0 {
					tb.Fatalf("byte %d is %d and was zero", len(used)+i, b)
				}
			}
		}
		for i, g := range in.globals {
			if g.Get() != m.snapshot.globals[i] {
				tb.Fatalf("global %s differs from the snapshot", m.code.Globals[i])
			}
		}
	}
	return len(idle)
}

// Sweep does what is due at the given time since the instances became idle.
func (e *Engine) Sweep(after time.Duration) { e.sweep(time.Now().Add(after)) }

// Waiting reports how many calls wait for an admission slot.
func (e *Engine) Waiting() int { return int(e.admission.waiting.Load()) }

// Live is how many instances exist.
func (e *Engine) Live() int { return int(e.live.Load()) }

// Parties reports how many parties hold slots or wait for one.
func (e *Engine) Parties() int {
	e.admission.mu.Lock()
	defer e.admission.mu.Unlock()
	return len(e.admission.parties)
}
