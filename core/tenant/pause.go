package tenant

import (
	"context"

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

// setPaused has the site go by what its database says of that.
func (t *Tenant) setPaused(why string) {
	before := t.paused.Swap(&why)
	switch was := before != nil && *before != ""; {
	case why != "" && !was:
		t.log.Warn("nothing is sent from the site, no letter and no request of its plugins and Connected Apps, until it is resumed by armature site resume", "paused", why)
	case why == "" && was:
		t.log.Info("what the site has to send is sent again")
		if t.c.Jobs != nil {
			t.c.Jobs.Wake(t.Site.Name)
		}
	}
}

// Pause notes that nothing is to be sent from the site, and why, or with "" that it
// may again. Every server with the site goes by it within a second. It reports
// whether that was news.
func (t *Tenant) Pause(ctx context.Context, why string) (news bool, err error) {
	if (t.Paused() == "") == (why == "") {
		return false, nil
	}
	if err := migration.Pause(ctx, t.Store, why); err != nil {
		return false, err
	}
	t.setPaused(why)
	return true, nil
}
