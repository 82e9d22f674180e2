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
	idle := m.pool.takeIdle(func(*resident) bool { return true })
	defer m.pool.putBack(idle)
	for _, in := range idle {
		got, _ := in.Read(0, uint32(in.Size()))
		if uint64(len(got)) != m.snapshot.Size() {
			tb.Fatalf("memory has %d bytes; the snapshot %d", len(got), m.snapshot.Size())
		}
		used := m.snapshot.Contents()
		if !bytes.Equal(got[:len(used)], used) {
			tb.Fatal("memory differs from the snapshot")
		}
		for i, b := range got[len(used):] {
			if b != 0 {
				tb.Fatalf("byte %d is %d and was zero", len(used)+i, b)
			}
		}
		for i, g := range in.Globals() {
			if g != m.snapshot.Globals()[i] {
				tb.Fatalf("global %s differs from the snapshot", m.source.Code.Globals[i])
			}
		}
	}
	return len(idle)
}

// Sweep does what is due at the given time since the instances became idle.
func (e *Engine) Sweep(after time.Duration) { e.sweep(time.Now().Add(after)) }

// Waiting reports how many calls wait for an admission slot.
func (e *Engine) Waiting() int { return e.host.Slots.Waiting() }

// Parties reports how many parties hold slots or wait for one.
func (e *Engine) Parties() int { return e.host.Slots.Parties() }

// Live is how many instances exist.
func (e *Engine) Live() int { return int(e.live.Load()) }
