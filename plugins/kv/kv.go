package kv

import (
	"sync"
	"sync/atomic"
	"time"

	"armature/core/fault"
)

// Config bounds a Cache. Zero stands for the default.
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

// owner says whose a store is. Two fields and no joined text: no name of a site
// and a plugin can be mistaken for another two.
type owner struct{ site, plugin string }

// Cache holds the stores of all plugins on all sites. It may be used
// concurrently and runs nothing in the background.
type Cache struct {
	cfg Config

	mu     sync.RWMutex // of the map; each store has its own
	stores map[owner]*store
	bytes  atomic.Int64 // in all stores
	turn   atomic.Int64 // counts uses, to tell which store is idle
}

// New makes an empty cache.
func New(cfg Config) *Cache {
	return &Cache{cfg: cfg.withDefaults(), stores: make(map[owner]*store)}
}

// Get returns the value of a key; ok is false when there is none or its time is
// over. The caller must not change the bytes.
func (c *Cache) Get(site, plugin, key string) (value []byte, ok bool) {
	s := c.find(owner{site, plugin})
	if s == nil {
		return nil, false
	}
	s.used.Store(c.turn.Add(1))
	return s.get(key, c.cfg.Now())
}

// Set keeps a copy of value for the time given, or with 0 for as long as there is
// room. Errors: BadRequest for a key that is empty or too long, or a ttl below
// 0; TooLarge for a value over the limit. What was kept under the key before
// stays then.
func (c *Cache) Set(site, plugin, key string, value []byte, ttl time.Duration) error {
	if err := c.admit(key, value, ttl); err != nil {
		return err
	}
	e := newEntry(key, value)
	if ttl > 0 {
		e.until = c.cfg.Now().Add(ttl)
	}
	c.put(site, plugin, e)
	return nil
}

func (c *Cache) admit(key string, value []byte, ttl time.Duration) error {
	switch {
	case key == "" || len(key) > c.cfg.MaxKey:
		return fault.New(fault.BadRequest, "", "A key has 1 to %d bytes", c.cfg.MaxKey)
	case ttl < 0:
		return fault.New(fault.BadRequest, "", "A value cannot be kept for less than no time")
	case len(value) > c.cfg.MaxValue:
		return fault.New(fault.TooLarge, "", "The value is over %d bytes", c.cfg.MaxValue)
	}
	return nil
}

func (c *Cache) put(site, plugin string, e *entry) {
	s := c.make(owner{site, plugin})
	s.used.Store(c.turn.Add(1))
	s.set(e)
	c.relieve()
}

// Delete forgets a key. It need not be there.
func (c *Cache) Delete(site, plugin, key string) {
	if s := c.find(owner{site, plugin}); s != nil {
		s.delete(key)
	}
}

// Drop forgets what the plugins named keep on a site; without names, what all of
// them do.
func (c *Cache) Drop(site string, plugins ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(plugins) > 0 {
		for _, p := range plugins {
			c.drop(owner{site, p})
		}
		return
	}
	for o := range c.stores {
		if o.site == site {
			c.drop(o)
		}
	}
}

// Bytes is how much memory the cache takes, about.
func (c *Cache) Bytes() int64 { return c.bytes.Load() }

func (c *Cache) drop(o owner) {
	if s := c.stores[o]; s != nil {
		delete(c.stores, o)
		s.close()
	}
}

func (c *Cache) find(o owner) *store {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.stores[o]
}

func (c *Cache) make(o owner) *store {
	if s := c.find(o); s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stores[o]
	if s == nil {
		s = newStore(c.cfg.MaxEntries, c.cfg.MaxBytes, &c.bytes)
		c.stores[o] = s
	}
	return s
}

// relieve keeps the stores within their common bound: it takes from those that
// are longest idle. It takes a little more than it must, as looking for them
// means looking at all.
func (c *Cache) relieve() {
	limit := int64(c.cfg.MaxAllBytes)
	if c.bytes.Load() <= limit {
		return
	}
	target := limit - limit/16
	for c.bytes.Load() > target {
		s := c.idlest()
		if s == nil {
			return
		}
		s.shrink(func() bool { return c.bytes.Load() > target })
	}
}

// idlest is the store with something in it that was used least recently.
func (c *Cache) idlest() (found *store) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, s := range c.stores {
		if !s.empty() && (found == nil || s.used.Load() < found.used.Load()) {
			found = s
		}
	}
	return found
}
