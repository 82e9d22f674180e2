package sites

import (
	"context"
	"errors"
	"sync"
	"time"
)

// How many sites are looked at at once, and how long a round may take: one
// whose database does not answer must not keep the others from being looked at.
const (
	refreshAtOnce  = 8
	refreshTimeout = 5 * time.Second
)

// Poll keeps the sites up to date until ctx ends: it finds those that came and
// went, takes over what other processes have changed of those in use, and puts
// those to sleep that are not.
func (s *Set) Poll(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.look:
			s.lookNow(ctx)
		case <-tick.C:
			s.Refresh(ctx)
			s.tick.Add(1)
			s.sleep(time.Now())
		}
	}
}

// Look has Poll look for new and dropped sites at once.
func (s *Set) Look() {
	select {
	case s.look <- struct{}{}:
	default:
	}
}

// lookNow looks for what has become of the sites, for a while.
func (s *Set) lookNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	_ = s.readSites(ctx) // logged; the next round tries again
}

// Refresh takes over, once, what other processes have changed: sites that came
// and went, their configuration, and the DocTypes of those in use. Failures are
// logged: the next round tries again.
func (s *Set) Refresh(ctx context.Context) {
	s.lookNow(ctx)
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	next := s.tick.Load() + 1
	var round sync.WaitGroup
	turns := make(chan struct{}, refreshAtOnce)
	for _, e := range s.table.Load().entries {
		t := e.serving.Load()
		if t == nil || !t.used.recent() || !t.pins.Take() {
			continue
		}
		turns <- struct{}{}
		round.Go(func() {
			t.refresh(ctx, next)
			t.release()
			<-turns
		})
	}
	round.Wait()
}

// readSites brings the table to what the registry has. Where that cannot be read
// the table stays as it is, which is logged once; where there was none yet nobody
// goes on without it, and whoever asked says so.
func (s *Set) readSites(ctx context.Context) error {
	if err := s.refreshing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.refreshing.Release(1)
	list, err := s.registry.Look(ctx)
	if err != nil {
		if !s.blind && !s.table.Load().unknown && !errors.Is(err, context.Canceled) {
			s.c.Logger.Error("look for sites; those that are known go on", "error", err)
			s.blind = true
		}
		return err
	}
	if s.blind {
		s.c.Logger.Info("sites can be looked for again")
		s.blind = false
	}
	s.takeSites(ctx, list)
	return nil
}

func (s *Set) takeSites(ctx context.Context, list []*Record) {
	old := s.table.Load()
	changed := old.unknown || len(list) != len(old.entries)
	entries := make([]*entry, len(list))
	for i, r := range list {
		e := old.byName[r.Name]
		switch {
		case e == nil || e.record.Load().id != r.id:
			e, changed = &entry{name: r.Name}, true
			e.record.Store(r)
		case e.record.Load() != r:
			e.update(r)
			changed = true
		}
		entries[i] = e
	}
	if !changed {
		return
	}
	now := newTable(entries)
	s.mu.Lock()
	s.table.Store(now)
	s.mu.Unlock()
	for _, gone := range old.entries {
		if now.byName[gone.name] != gone {
			s.drop(ctx, gone)
		}
	}
}

// drop lets go of a site that is gone.
func (s *Set) drop(ctx context.Context, e *entry) {
	s.c.Logger.Info("site is gone", "site", e.name)
	e.close()
	if s.c.Plugins != nil {
		s.c.Plugins.Forget(e.name)
	}
	s.registry.Left(ctx, e.record.Load())
}

// sleep closes the sites that nobody has used for a while.
func (s *Set) sleep(now time.Time) {
	for _, e := range s.table.Load().entries {
		if t := e.serving.Load(); t != nil && t.used.idle(now, s.c.Idle) && t.sleep() {
			go t.end() // CloseAll waits for it
		}
	}
}
