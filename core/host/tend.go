package host

import (
	"context"
	"os"
	"time"
)

// tendEvery is how often a site has its housekeeping done, and lookEvery how
// often it is looked whose is due.
const (
	tendEvery = 24 * time.Hour
	lookEvery = time.Minute
)

// Tend does the housekeeping of every site once a day until ctx ends: what
// crashes have left behind is removed, and what is past use. A site that sleeps is opened for it, and
// put to sleep again at once.
func (s *Set) Tend(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, e := range s.table.Load().entries {
			if ctx.Err() == nil && s.c.Layout.due(e.name, time.Now()) {
				s.TendSite(ctx, e.name)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// TendSite does the housekeeping of one site now. Failures are logged: the next
// day tries again.
func (s *Set) TendSite(ctx context.Context, name string) {
	e := s.table.Load().byName[name]
	if e == nil {
		return
	}
	// Noted first: a site that cannot be opened is not tried all day long, and of
	// several servers on one folder one does the work.
	if err := s.c.Layout.tended(name); err != nil {
		s.c.Logger.Error("note the housekeeping of a site", "site", name, "error", err)
		return
	}
	slept := e.serving.Load() == nil
	t, err := s.wake(ctx, e)
	if err != nil {
		return // logged by whoever opened it
	}
	if err := t.Files.Sweep(ctx); err != nil && ctx.Err() == nil {
		t.log.Error("sweep the files", "error", err)
	}
	if err := t.OAuth.Sweep(ctx); err != nil && ctx.Err() == nil {
		t.log.Error("clear away OAuth tokens", "error", err)
	}
	t.release()
	if slept && !t.used.recent() && t.pins.retireUnused() {
		e.serving.CompareAndSwap(t, nil)
		t.end()
	}
}

// due reports whether a site's housekeeping was last done more than a day ago.
func (l Layout) due(name string, now time.Time) bool {
	info, err := os.Stat(l.tendedFile(name))
	return err != nil || now.Sub(info.ModTime()) >= tendEvery
}

// tended notes that it is being done.
func (l Layout) tended(name string) error {
	return os.WriteFile(l.tendedFile(name), nil, 0o600)
}
