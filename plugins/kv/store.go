package kv

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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
	maxEntries, maxBytes int

	used atomic.Int64  // when, in the cache's turns
	all  *atomic.Int64 // bytes in all stores

	mu     sync.Mutex
	byKey  map[string]*list.Element
	recent *list.List // of *entry, latest use in front
	bytes  int
	closed bool // nothing comes in any more
}

func newStore(maxEntries, maxBytes int, all *atomic.Int64) *store {
	return &store{maxEntries: maxEntries, maxBytes: maxBytes, all: all, byKey: make(map[string]*list.Element), recent: list.New()}
}

func (s *store) get(key string, now time.Time) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	el := s.byKey[key]
	if el == nil {
		return nil, false
	}
	e := el.Value.(*entry)
	if e.over(now) {
		s.remove(el)
		return nil, false
	}
	s.recent.MoveToFront(el)
	return e.value, true
}

// peek returns an entry as it is, or nil.
func (s *store) peek(key string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el := s.byKey[key]; el != nil {
		return el.Value.(*entry)
	}
	return nil
}

// oldestFirst hands out the entries in the order in which they were put in.
func (s *store) oldestFirst(yield func(*entry) bool) {
	for el := s.recent.Back(); el != nil; el = el.Prev() {
		if !yield(el.Value.(*entry)) {
			return
		}
	}
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
	s.removeKey(e.key)
	s.byKey[e.key] = s.recent.PushFront(e)
	s.grow(e.size())
	for s.bytes > s.maxBytes || s.recent.Len() > s.maxEntries {
		s.remove(s.recent.Back())
		full = true
	}
	return full
}

func (s *store) delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeKey(key)
}

// shrink takes entries out, longest unused first, while more is true.
func (s *store) shrink(more func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.recent.Len() > 0 && more() {
		s.remove(s.recent.Back())
	}
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.grow(-s.bytes)
	clear(s.byKey)
	s.recent.Init()
}

func (s *store) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.Len() == 0
}

func (s *store) removeKey(key string) {
	if el := s.byKey[key]; el != nil {
		s.remove(el)
	}
}

func (s *store) remove(el *list.Element) {
	e := s.recent.Remove(el).(*entry)
	delete(s.byKey, e.key)
	s.grow(-e.size())
}

func (s *store) grow(n int) {
	s.bytes += n
	s.all.Add(int64(n))
}
