package kv

import (
	"sync/atomic"
	"time"

	"armature/runtime/hostapi"
)

var _ hostapi.KV = (*Site)(nil)

// Begin returns what one run of a plugin sees and changes: what it has kept, with the
// run's own changes before it, which others see once they are kept. They are bounded as
// the plugin's store is, and forgotten in the same order. A run belongs to one
// goroutine.
func (s *Site) Begin(plugin string) hostapi.KVRun {
	return &run{site: s, plugin: plugin}
}

type run struct {
	site   *Site
	plugin string
	own    *store // what was changed; nil: nothing
	bytes  atomic.Int64
	full   bool // something of own had to go: nothing older is left either
}

func (r *run) Get(key string) (value []byte, ok bool) {
	if r.own != nil {
		if e := r.own.peek(key); e != nil {
			if e.gone || e.over(r.site.m.cfg.Now()) {
				return nil, false
			}
			return e.value, true
		}
	}
	if r.full {
		return nil, false
	}
	return r.site.Get(r.plugin, key)
}

// Set is Site.Set, for the run.
func (r *run) Set(key string, value []byte, ttl time.Duration) error {
	e, err := r.site.m.entry(key, value, ttl)
	if err == nil {
		r.put(e)
	}
	return err
}

// Delete is Site.Delete, for the run.
func (r *run) Delete(key string) {
	e := newEntry(key, nil)
	e.gone = true
	r.put(e)
}

func (r *run) put(e *entry) {
	if r.own == nil {
		cfg := &r.site.m.cfg
		r.own = newStore(cfg.MaxEntries, cfg.MaxBytes, &r.bytes)
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
		r.site.Drop(r.plugin)
	}
	for _, e := range r.own.oldestFirst() {
		if e.gone {
			r.site.Delete(r.plugin, e.key)
		} else {
			r.site.put(r.plugin, e)
		}
	}
	r.own = nil
}
