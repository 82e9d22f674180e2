package host

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/site"
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
			if err := s.readSites(); err != nil {
				s.c.Logger.Error("look for sites", "error", err)
			}
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

// Refresh takes over, once, what other processes have changed: sites that came
// and went, their configuration, and the DocTypes of those in use. Failures are
// logged: the next round tries again.
func (s *Set) Refresh(ctx context.Context) {
	if err := s.readSites(); err != nil {
		s.c.Logger.Error("look for sites", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	next := s.tick.Load() + 1
	var round sync.WaitGroup
	turns := make(chan struct{}, refreshAtOnce)
	for _, e := range s.table.Load().entries {
		t := e.serving.Load()
		if t == nil || !t.used.recent() || !t.pins.take() {
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

// readSites brings the table to what lies in the folder of sites.
func (s *Set) readSites() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	names, err := s.c.Layout.List()
	if err != nil {
		return err
	}
	old := s.table.Load()
	changed := len(names) != len(old.entries)
	entries := make([]*entry, 0, len(names))
	for _, name := range names {
		e := old.byName[name]
		folder, err := os.Stat(s.c.Layout.Site(name))
		if err != nil {
			changed = true // dropped since the list was made
			continue
		}
		if e == nil || !os.SameFile(folder, e.folder) {
			e, changed = &entry{name: name, folder: folder}, true
		}
		changed = s.readConfig(e) || changed
		entries = append(entries, e)
	}
	if !changed {
		return nil
	}
	s.mu.Lock()
	s.table.Store(newTable(entries))
	s.mu.Unlock()
	for _, gone := range old.entries {
		if s.table.Load().byName[gone.name] != gone {
			s.drop(gone)
		}
	}
	return nil
}

// drop lets go of a site whose folder is gone.
func (s *Set) drop(e *entry) {
	s.c.Logger.Info("site is gone", "site", e.name)
	s.close(e)
	if s.c.Plugins != nil {
		s.c.Plugins.Forget(e.name)
	}
}

// readConfig reads a site's configuration if its file is another than before,
// and reports whether it has. One that is wrong leaves the old one in use.
func (s *Set) readConfig(e *entry) (changed bool) {
	file, err := os.Stat(s.c.Layout.Config(e.name))
	if err != nil {
		file = nil
	}
	if e.config != nil && sameFile(file, e.file) {
		return false
	}
	config, err := s.c.Layout.ReadConfig(e.name)
	e.file, e.broken = file, err != nil
	if err != nil {
		s.c.Logger.Error("read the configuration of a site", "site", e.name, "error", err)
		if e.config == nil {
			e.config = &site.Config{}
		}
		return true
	}
	e.config = config
	if t := e.tenant.Load(); t != nil {
		t.configure(config)
	}
	return true
}

// sameFile reports whether a file is the one it was before, unchanged.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// sleep closes the sites that nobody has used for a while.
func (s *Set) sleep(now time.Time) {
	for _, e := range s.table.Load().entries {
		t := e.serving.Load()
		if t == nil || !t.used.idle(now, s.c.Idle) || !t.pins.retireUnused() {
			continue
		}
		e.serving.CompareAndSwap(t, nil)
		go t.end() // CloseAll waits for it
	}
}

// usage tells when a site was last used, at next to no cost for a request.
type usage struct {
	noted atomic.Bool
	last  time.Time // of the poller
	was   atomic.Bool
}

// note says that a request has come.
func (u *usage) note() {
	if !u.noted.Load() { // a write would take the line from every other processor
		u.noted.Store(true)
	}
}

// recent reports whether a request has come since the last round.
func (u *usage) recent() bool { return u.noted.Load() || u.was.Load() }

// idle reports whether none has come for d; below 0 is for ever.
func (u *usage) idle(now time.Time, d time.Duration) bool {
	u.was.Store(u.noted.Swap(false))
	if u.was.Load() {
		u.last = now
	}
	return d >= 0 && now.Sub(u.last) >= d
}
