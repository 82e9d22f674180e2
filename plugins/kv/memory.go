package kv

import (
	"sync"
	"sync/atomic"
	"time"
)

// Config bounds a Memory. Zero stands for the default.
type Config struct {
	MaxEntries  int // of one plugin on one site; default 10,000
	MaxBytes    int // of memory, for one plugin on one site; default 16 MiB
	MaxAllBytes int // of memory, for all together; default 256 MiB
	MaxKey      int // bytes of a key; default 255
	MaxValue    int // bytes of a value; default 1 MiB

	Now func() time.Time // default: time.Now
}

func (c Config) withDefaults() Config {
	or := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	or(&c.MaxEntries, 10_000)
	or(&c.MaxBytes, 16<<20)
	or(&c.MaxAllBytes, 256<<20)
	or(&c.MaxKey, 255)
	or(&c.MaxValue, 1<<20)
	c.MaxBytes = min(c.MaxBytes, c.MaxAllBytes)
	c.MaxValue = min(c.MaxValue, c.MaxBytes-c.MaxKey-overhead) // so that each value fits
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Memory is what the sites of a process have in common: one bound for all that their
// plugins keep. It may be used concurrently and runs nothing in the background.
type Memory struct {
	cfg Config

	mu     sync.RWMutex // of the set; each store has its own
	stores map[*store]struct{}
	bytes  atomic.Int64 // in all stores
	uses   atomic.Int64 // counted, to tell which store is idle
}

// NewMemory makes a memory in which nothing is kept.
func NewMemory(cfg Config) *Memory {
	return &Memory{cfg: cfg.withDefaults(), stores: map[*store]struct{}{}}
}

// Bytes is how much memory all sites take, about.
func (m *Memory) Bytes() int64 { return m.bytes.Load() }

// add makes a store that counts.
func (m *Memory) add() *store {
	s := newStore(m.cfg.MaxEntries, m.cfg.MaxBytes, &m.bytes)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stores[s] = struct{}{}
	return s
}

// remove empties a store, which counts no more.
func (m *Memory) remove(s *store) {
	m.mu.Lock()
	delete(m.stores, s)
	m.mu.Unlock()
	s.close()
}

// use notes that a store is in use.
func (m *Memory) use(s *store) { s.used.Store(m.uses.Add(1)) }

// relieve keeps the stores within their common bound: it takes from those that
// are longest idle. It takes a little more than it must, as looking for them
// means looking at all.
func (m *Memory) relieve() {
	limit := int64(m.cfg.MaxAllBytes)
	if m.bytes.Load() <= limit {
		return
	}
	target := limit - limit/16
	for m.bytes.Load() > target {
		s := m.idlest()
		if s == nil {
			return
		}
		s.shrink(func() bool { return m.bytes.Load() > target })
	}
}

// idlest is the store with something in it that was used least recently.
func (m *Memory) idlest() (found *store) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for s := range m.stores {
		if !s.empty() && (found == nil || s.used.Load() < found.used.Load()) {
			found = s
		}
	}
	return found
}
