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
	stores map[*store]*Site
	bytes  atomic.Int64 // in all stores
	uses   atomic.Int64 // counted, to tell which store is idle
}

// NewMemory makes a memory in which nothing is kept.
func NewMemory(cfg Config) *Memory {
	return &Memory{cfg: cfg.withDefaults(), stores: map[*store]*Site{}}
}

// Bytes is how much memory all sites take, about.
func (m *Memory) Bytes() int64 { return m.bytes.Load() }

// add makes a store of a site, that counts.
func (m *Memory) add(of *Site) *store {
	s := newStore(m.cfg.MaxEntries, m.cfg.MaxBytes, &m.bytes, &of.bytes)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stores[s] = of
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

// relieve keeps a site that has kept something within what it may have, and the
// sites together within their common bound. It takes a little more than it must,
// as looking for what to take means looking at all stores.
func (m *Memory) relieve(s *Site) {
	if most := s.most(); most > 0 && s.bytes.Load() > most {
		m.take(s, func() bool { return s.bytes.Load() > most-most/16 })
	}
	limit := int64(m.cfg.MaxAllBytes)
	for m.bytes.Load() > limit {
		from := m.payer(s)
		if from == nil || !m.take(from, func() bool { return m.bytes.Load() > limit-limit/16 && m.pays(from, s) }) {
			return // others make room at the same moment
		}
	}
}

// payer is the site that makes room for one that has kept something: the site
// itself where it has as much as its share, so that no site pushes out what another
// keeps; else the one that has most.
func (m *Memory) payer(s *Site) (most *Site) {
	sites := m.sites()
	if len(sites) == 0 {
		return nil
	}
	if s.bytes.Load() >= int64(m.cfg.MaxAllBytes)/int64(len(sites)) {
		return s
	}
	for site := range sites {
		if most == nil || site.bytes.Load() > most.bytes.Load() {
			most = site
		}
	}
	return most
}

// pays reports whether a site goes on making room for another: not once it has less.
func (m *Memory) pays(from, s *Site) bool { return from == s || from.bytes.Load() > s.bytes.Load() }

// sites are those that keep something.
func (m *Memory) sites() map[*Site]bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := map[*Site]bool{}
	for _, s := range m.stores {
		if s.bytes.Load() > 0 {
			all[s] = true
		}
	}
	return all
}

// take empties stores of a site, longest idle first, while more is true. It reports
// whether it found anything to take.
func (m *Memory) take(from *Site, more func() bool) (taken bool) {
	for more() {
		s := m.idlest(from)
		if s == nil {
			return taken
		}
		s.shrink(more)
		taken = true
	}
	return taken
}

// idlest is the store of a site with something in it that was used least recently.
func (m *Memory) idlest(of *Site) (found *store) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for s, site := range m.stores {
		if site == of && !s.empty() && (found == nil || s.used.Load() < found.used.Load()) {
			found = s
		}
	}
	return found
}
