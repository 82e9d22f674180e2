package kv

import (
	"sync"
	"sync/atomic"
	"time"

	"armature/core/fault"
)

// Site is what the plugins of one site keep. It may be used concurrently. Who is done
// with it calls Drop.
type Site struct {
	m     *Memory
	bytes atomic.Int64 // in all its stores
	most  func() int64 // bytes that it may keep; 0: nothing but the memory bounds it

	mu     sync.RWMutex      // of the map; each store has its own
	stores map[string]*store // by plugin
}

// Site makes the part of a site, in which nothing is kept.
func (m *Memory) Site() *Site {
	return &Site{m: m, stores: map[string]*store{}, most: func() int64 { return 0 }}
}

// Bytes is how much memory the site takes, about.
func (s *Site) Bytes() int64 { return s.bytes.Load() }

// Bound has the site keep within so many bytes, as most says of now; 0: nothing but
// the memory bounds it. Nobody uses the site meanwhile.
func (s *Site) Bound(most func() int64) { s.most = most }

// Get returns the value of a key; ok is false when there is none or its time is
// over. The caller must not change the bytes.
func (s *Site) Get(plugin, key string) (value []byte, ok bool) {
	of := s.find(plugin)
	if of == nil {
		return nil, false
	}
	s.m.use(of)
	return of.get(key, s.m.cfg.Now())
}

// Set keeps a copy of value for the time given, or with 0 for as long as there is
// room. Errors: BadRequest for a key that is empty or too long, or a ttl below
// 0; TooLarge for a value over the limit. What was kept under the key before
// stays then.
func (s *Site) Set(plugin, key string, value []byte, ttl time.Duration) error {
	e, err := s.m.entry(key, value, ttl)
	if err == nil {
		s.put(plugin, e)
	}
	return err
}

// Delete forgets a key. It need not be there.
func (s *Site) Delete(plugin, key string) {
	if of := s.find(plugin); of != nil {
		of.delete(key)
	}
}

// Drop forgets what the plugins named keep; without names, what all of them do.
func (s *Site) Drop(plugins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(plugins) == 0 {
		for name := range s.stores {
			s.drop(name)
		}
	}
	for _, name := range plugins {
		s.drop(name)
	}
}

func (s *Site) drop(plugin string) {
	if of := s.stores[plugin]; of != nil {
		delete(s.stores, plugin)
		s.m.remove(of)
	}
}

func (s *Site) put(plugin string, e *entry) {
	of := s.ensure(plugin)
	s.m.use(of)
	of.set(e)
	s.m.relieve(s)
}

func (s *Site) find(plugin string) *store {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.stores[plugin]
}

func (s *Site) ensure(plugin string) *store {
	if of := s.find(plugin); of != nil {
		return of
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stores[plugin] == nil {
		s.stores[plugin] = s.m.add(s)
	}
	return s.stores[plugin]
}

// entry makes an entry of what a guest hands over, if it may be kept.
func (m *Memory) entry(key string, value []byte, ttl time.Duration) (*entry, error) {
	switch {
	case key == "" || len(key) > m.cfg.MaxKey:
		return nil, fault.New(fault.BadRequest, "", "A key has 1 to %d bytes", m.cfg.MaxKey)
	case ttl < 0:
		return nil, fault.New(fault.BadRequest, "", "A value cannot be kept for less than no time")
	case len(value) > m.cfg.MaxValue:
		return nil, fault.New(fault.TooLarge, "", "The value is over %d bytes", m.cfg.MaxValue)
	}
	e := newEntry(key, value)
	if ttl > 0 {
		e.until = m.cfg.Now().Add(ttl)
	}
	return e, nil
}
