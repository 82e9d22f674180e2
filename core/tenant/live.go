package tenant

import (
	"context"

	"armature/core/document"
	"armature/core/live"
	"armature/core/method"
)

// openLive makes what tells clients of the site's changes.
func (t *Tenant) openLive() {
	if t.c.Streams == nil {
		return
	}
	t.Live = live.New(live.Config{
		Site: t.Site.Name, Lineage: t.lineage(), Process: t.c.Streams, Log: t.changes, Store: t.Store,
		Documents: func() *document.Service { return t.Documents },
		Methods:   func() *method.Service { return t.Methods() },
		Refresh:   func(ctx context.Context) { t.Refresh(ctx) }, Forget: t.Auth.Forget, Retired: t.home.Retired,
		Most: func() (site int64, user int) {
			config := t.Site.Config()
			return config.Quotas().Streams, config.StreamsPerUser()
		},
		Logger: t.log,
	})
	t.opened.add("the streams", func() error { t.Live.Close(); return nil })
}

// lineage says of which database a position is: another copy has other ones.
func (t *Tenant) lineage() string {
	id := t.found.Identity
	return id[:min(len(id), 12)]
}
