package kv

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// entry is a value under its key. It is not changed once it is in a store: who
// was given the value may read it after it was replaced.
type entry struct {
	key   string
	value []byte
	until time.Time // zero: no end
	gone  bool      // of a run: deleted
}

func (e *entry) over(now time.Time) bool { return !e.until.IsZero() && !now.Before(e.until) }

// newEntry copies: what a guest hands over lies in its memory.
func newEntry(key string, value []byte) *entry {
	return &entry{key: strings.Clone(key), value: slices.Clone(value)}
}

// overhead is about what an entry takes besides its bytes: itself, its place in
// the list and in the map. Without it 10,000 empty values would weigh nothing.
const overhead = 200

func (e *entry) size() int { return overhead + len(e.key) + len(e.value) }

// store is what one plugin keeps on one site.
type store struct {
	maxBytes int

	used atomic.Int64    // when, in the memory's uses
	sums []*atomic.Int64 // of the bytes in this store and others

	mu      sync.Mutex
	entries *simplelru.LRU[string, *entry] // of whatever leaves it, grow is told
	bytes   int
	closed  bool // nothing comes in any more
}

// newStore makes a store of at least one entry at most.
func newStore(maxEntries, maxBytes int, sums ...*atomic.Int64) *store {
	s := &store{maxBytes: maxBytes, sums: sums}
	entries, err := simplelru.NewLRU(maxEntries, func(_ string, e *entry) { s.grow(-e.size()) })
	if err != nil {
		panic(err) // Config.withDefaults lets no bound be below 1
	}
	s.entries = entries
	return s
}

func (s *store) get(key string, now time.Time) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries.Get(key)
	if !ok {
		return nil, false
	}
	if e.over(now) {
		s.entries.Remove(key)
		return nil, false
	}
	return e.value, true
}

// peek returns an entry as it is, or nil.
func (s *store) peek(key string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, _ := s.entries.Peek(key)
	return e
}

// oldestFirst is the entries in the order in which they were put in.
func (s *store) oldestFirst() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries.Values()
}

// set puts an entry in, and out what no longer fits, and reports whether anything
// had to go. A closed store takes none: whoever still holds one came before it was
// dropped.
func (s *store) set(e *entry) (full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.entries.Remove(e.key)
	s.grow(e.size())
	full = s.entries.Add(e.key, e)
	for s.bytes > s.maxBytes {
		s.entries.RemoveOldest()
		full = true
	}
	return full
}

func (s *store) delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries.Remove(key)
}

// shrink takes entries out, longest unused first, while more is true.
func (s *store) shrink(more func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.entries.Len() > 0 && more() {
		s.entries.RemoveOldest()
	}
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.entries.Purge()
}

func (s *store) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries.Len() == 0
}

func (s *store) grow(n int) {
	s.bytes += n
	for _, sum := range s.sums {
		sum.Add(int64(n))
	}
}
