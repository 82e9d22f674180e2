package sites

import (
	"context"
	"fmt"

	"armature/core/fault"
	"armature/core/migration"
)

// Outgoing reports whether what the site has to send may leave it: letters, the
// requests of its Connected Apps and of its plugins. Of a paused one it is
// Unavailable, OutgoingPausedError, with who can change that.
func (t *Tenant) Outgoing() error {
	if t.Paused() == "" {
		return nil
	}
	return fault.New(fault.Unavailable, "OutgoingPausedError",
		"Nothing is sent from this site until an operator says so: armature site resume %s", t.Site.Name)
}

// Paused is why nothing leaves the site; empty: it does.
func (t *Tenant) Paused() string {
	if why := t.paused.Load(); why != nil {
		return *why
	}
	return ""
}

// pause has the site go by what its database says of that.
func (t *Tenant) pause(why string) {
	before := t.paused.Swap(&why)
	switch was := before != nil && *before != ""; {
	case why != "" && !was:
		t.log.Warn("nothing is sent from the site, no letter and no request of its plugins and Connected Apps, until it is resumed by armature site resume", "paused", why)
	case why == "" && was:
		t.log.Info("what the site has to send is sent again")
	}
}

// Pause notes that nothing is to be sent from a site, and why, or with "" that it may
// again. Servers go by it within a second. It reports whether that was news.
func (s *Set) Pause(ctx context.Context, name, why string) (bool, error) {
	t, err := s.Open(ctx, name)
	if err != nil {
		return false, err
	}
	if (t.Paused() == "") == (why == "") {
		return false, nil
	}
	if err := migration.Pause(ctx, t.Store, why); err != nil {
		return false, fmt.Errorf("pause site %s: %w", name, err)
	}
	t.pause(why)
	return true, nil
}

// pausedAs is why a site that comes out of an archive is paused; empty where it is
// not. It is a copy, whose original may go on elsewhere, unless it takes the place
// of what it was made from: then it is as that was.
func (s *Set) pausedAs(ctx context.Context, r *restoring, replace bool) string {
	why := fmt.Sprintf("restored from an archive of site %s of %s", r.archive.Header.Site, r.archive.Header.Made.Format("2006-01-02 15:04 MST"))
	if !replace || r.archive.Header.Origin == "" {
		return why
	}
	t, err := s.Open(ctx, r.name)
	if err != nil || t.found.Origin != r.archive.Header.Origin {
		return why // what cannot be opened cannot say whose it is
	}
	return t.Paused()
}
