package kv

import (
	"sync/atomic"
	"time"

	"armature/runtime/hostapi"
)

var _ hostapi.KV = (*Cache)(nil)

// Begin returns what one run of a plugin sees and changes: the cache with the run's
// own changes before it, which others see once they are kept. They are bounded as
// the plugin's store is, and forgotten in the same order. A run belongs to one
// goroutine.
func (c *Cache) Begin(site, plugin string) hostapi.KVRun {
	return &run{c: c, site: site, plugin: plugin}
}

type run struct {
	c            *Cache
	site, plugin string
	own          *store // what was changed; nil: nothing
	bytes        atomic.Int64
	full         bool // something of own had to go: nothing older is left either
}

func (r *run) Get(key string) (value []byte, ok bool) {
	if r.own != nil {
		if e := r.own.peek(key); e != nil {
			if e.gone || e.over(r.c.cfg.Now()) {
				return nil, false
			}
			return e.value, true
		}
	}
	if r.full {
		return nil, false
	}
	return r.c.Get(r.site, r.plugin, key)
}

// Set is Cache.Set, for the run.
func (r *run) Set(key string, value []byte, ttl time.Duration) error {
	if err := r.c.admit(key, value, ttl); err != nil {
		return err
	}
	e := newEntry(key, value)
	if ttl > 0 {
		e.until = r.c.cfg.Now().Add(ttl)
	}
	r.put(e)
	return nil
}

// Delete is Cache.Delete, for the run.
func (r *run) Delete(key string) {
	e := newEntry(key, nil)
	e.gone = true
	r.put(e)
}

func (r *run) put(e *entry) {
	if r.own == nil {
		r.own = newStore(r.c.cfg.MaxEntries, r.c.cfg.MaxBytes, &r.bytes)
	}
	if r.own.set(e) {
		r.full = true
	}
}

// Keep makes the changes everybody's.
func (r *run) Keep() {
	if r.own == nil {
		return
	}
	if r.full {
		r.c.Drop(r.site, r.plugin)
	}
	for e := range r.own.oldestFirst {
		if e.gone {
			r.c.Delete(r.site, r.plugin, e.key)
		} else {
			r.c.put(r.site, r.plugin, e)
		}
	}
	r.own = nil
}
