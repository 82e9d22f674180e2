package sites

import (
	"context"
	"time"

	"armature/core/file"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// lookEvery is how often it is looked whose housekeeping is due.
const lookEvery = time.Minute

// Maintain does the housekeeping of every site once a day until ctx ends: what
// crashes have left behind is removed, and what is past use. A site that sleeps is
// opened for it, and put to sleep again at once.
func (s *Set) Maintain(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.maintainDue(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// maintainDue does what is due now. Of several servers one does a site's; what each
// machine has of uploads that were broken off it clears away itself, and what is
// left of broken off restores any of them does.
func (s *Set) maintainDue(ctx context.Context) {
	spools := time.Since(s.spooled) >= registry.MaintainEvery
	if spools {
		s.spooled = time.Now()
		if err := s.Registry().Sweep(ctx); err != nil && ctx.Err() == nil {
			s.c.Logger.Error("clear away sites whose making was broken off", "error", err)
		}
	}
	for _, e := range s.list.now().entries {
		if ctx.Err() != nil {
			return
		}
		r := e.record.Load()
		if spools {
			if err := file.SweepSpool(tenant.Spool(s.c.Layout.Files(r.Folder)), time.Now()); err != nil {
				s.c.Logger.Error("sweep the spool", "site", e.name, "error", err)
			}
		}
		// Noted first: a site that cannot be opened is not tried all day long.
		switch mine, err := s.Registry().ClaimMaintenance(ctx, r); {
		case err != nil && ctx.Err() == nil:
			s.c.Logger.Error("note the housekeeping of a site", "site", e.name, "error", err)
		case mine:
			s.maintain(ctx, e)
		}
	}
}

// maintain does the housekeeping of one site. Failures are logged: the next day tries
// again.
func (s *Set) maintain(ctx context.Context, e *entry) {
	t, release, err := s.Borrow(ctx, e.name)
	if err != nil {
		return // logged by whoever opened it
	}
	defer release()
	if err := t.Files.Sweep(ctx); err != nil && ctx.Err() == nil {
		t.Log().Error("sweep the files", "error", err)
	}
	if err := t.OAuth.Sweep(ctx); err != nil && ctx.Err() == nil {
		t.Log().Error("clear away OAuth tokens", "error", err)
	}
}
