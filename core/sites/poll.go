package sites

import (
	"context"
	"sync"
	"time"

	"armature/core/sites/registry"
)

// refreshAtOnce is how many sites are looked at at once.
const refreshAtOnce = 8

// Poll keeps the sites up to date until ctx ends: it finds those that came and
// went, takes over what other processes have changed of those in use, and puts
// those to sleep that are not.
func (s *Set) Poll(ctx context.Context) {
	tick := time.NewTicker(registry.PollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.look:
			s.list.lookBriefly(ctx)
		case <-tick.C:
			s.Refresh(ctx)
			s.opener.rounds.Add(1)
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

// Refresh takes over, once, what other processes have changed: sites that came
// and went, their configuration, and the DocTypes of those in use. Failures are
// logged: the next round tries again.
func (s *Set) Refresh(ctx context.Context) {
	s.list.lookBriefly(ctx)
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	next := s.opener.rounds.Load() + 1
	var round sync.WaitGroup
	turns := make(chan struct{}, refreshAtOnce)
	for _, e := range s.list.now().entries {
		t := e.serving.Load()
		if t == nil || !t.used.recent() || !t.pins.Take() {
			continue
		}
		turns <- struct{}{}
		round.Go(func() {
			e.refresh(ctx, t, next)
			t.release()
			<-turns
		})
	}
	round.Wait()
}

// sleep closes the sites that nobody has used for a while.
func (s *Set) sleep(now time.Time) {
	for _, e := range s.list.now().entries {
		if t := e.serving.Load(); t != nil && t.used.idle(now, s.c.Idle) && e.sleep(t) {
			go t.end() // CloseAll waits for it
		}
	}
}
