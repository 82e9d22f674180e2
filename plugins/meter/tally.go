package meter

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Tally counts the calls of one plugin on one site until somebody writes them
// down. A nil one counts nothing.
type Tally struct{ calls, failed atomic.Int64 }

// Tallies are the counters of the plugins of one site. The zero value is ready for use,
// by many goroutines; a nil one counts nothing.
type Tallies struct {
	mu sync.Mutex
	of map[string]*Tally // by plugin
}

// Of returns the counter of a plugin; nil from nil Tallies.
func (t *Tallies) Of(plugin string) *Tally {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]*Tally{}
	}
	if t.of[plugin] == nil {
		t.of[plugin] = &Tally{}
	}
	return t.of[plugin]
}

// All are the counters by plugin.
func (t *Tallies) All() map[string]*Tally {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.of)
}

// Done counts a call that has ended; err is nil or what it failed with.
func (t *Tally) Done(err error) {
	if t == nil {
		return
	}
	t.calls.Add(1)
	if err != nil {
		t.failed.Add(1)
	}
}

// Take returns what was counted and begins again at nothing.
func (t *Tally) Take() (calls, failed int64) {
	failed = t.failed.Swap(0) // first: no more calls have failed than there were
	return t.calls.Swap(0), failed
}

// Return puts back what was taken and could not be written down.
func (t *Tally) Return(calls, failed int64) {
	t.calls.Add(calls)
	t.failed.Add(failed)
}
