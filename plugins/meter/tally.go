package meter

import (
	"maps"
	"sync/atomic"
)

// Tally counts the calls of one plugin on one site until somebody writes them
// down. A nil one counts nothing.
type Tally struct{ calls, failed atomic.Int64 }

// Tally returns the counter of a plugin on a site; nil from a nil meter.
func (m *Meter) Tally(site, plugin string) *Tally {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.tallies[site]
	if of == nil {
		of = map[string]*Tally{}
		m.tallies[site] = of
	}
	if of[plugin] == nil {
		of[plugin] = &Tally{}
	}
	return of[plugin]
}

// Tallies are those of a site, by plugin.
func (m *Meter) Tallies(site string) map[string]*Tally {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tallies[site])
}

// DropTallies is for a site that is closed.
func (m *Meter) DropTallies(site string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tallies, site)
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
