package document

import "sync/atomic"

// ViewHistory is what a Store remembers of a function that it runs as a View again and
// again: whether it asks the database more than once. One that does not needs no
// transaction to see one moment. The zero value is ready; it may be used by many
// goroutines at once.
type ViewHistory struct{ cautious atomic.Int32 }

// caution is how many runs must ask once, after one that asked again, until a run
// is taken to ask once before it has.
const caution = 64

// Once reports whether the next run is expected to ask once. nil: it is not.
func (h *ViewHistory) Once() bool { return h != nil && h.cautious.Load() <= 0 }

// Asked notes how often a run has asked.
func (h *ViewHistory) Asked(times int) {
	switch {
	case h == nil:
	case times > 1:
		h.cautious.Store(caution)
	case h.cautious.Load() > 0:
		h.cautious.Add(-1)
	}
}
