package tenant

import (
	"context"
	"errors"

	"armature/core/migration"
)

// RefreshPlugins takes over what other processes have changed of the site's
// plugins.
func (t *Tenant) RefreshPlugins(ctx context.Context) { t.plugins.Refresh(ctx) }

// Refresh takes over the DocTypes that other processes have changed, and what the
// database says of the site. Failures are logged: the next time tries again. It
// reports whether this binary may go on using the site: a newer version may have
// brought it to a format that this one may not use.
func (t *Tenant) Refresh(ctx context.Context) (usable bool) {
	usable = true
	err := t.Documents.Refresh(ctx)
	if now := t.Documents.Schema().Version; err == nil && t.looked.Load() != now {
		if usable, err = t.readState(ctx); err == nil {
			t.looked.Store(now)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.log.Error("look for changes of the site", "error", err)
	}
	return usable
}

// readState goes by what the database says of the site.
func (t *Tenant) readState(ctx context.Context) (usable bool, err error) {
	state, err := migration.Read(ctx, t.Store)
	if err != nil {
		return true, err
	}
	if _, err := t.format.Current(state); err != nil {
		return false, err
	}
	t.setPaused(state.Paused)
	return true, t.installWithheld(ctx)
}
