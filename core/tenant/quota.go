package tenant

import (
	"context"

	"armature/core/metrics"
	"armature/core/quota"
	"armature/core/site"
	"armature/core/store"
)

// openQuota makes what holds the site to what its operator lets it have.
func (t *Tenant) openQuota() {
	has := quota.Documents{Store: t.Store, Service: t.documents}
	t.quota = quota.New(quota.Config{
		Quotas:    func() site.Quotas { return t.Site.Config().Quotas() },
		Documents: has.Count, Counts: has.Counts, FileBytes: t.fileBytes(has), PluginBytes: has.PluginBytes,
		DatabaseBytes: t.databaseBytes, KVBytes: func() int64 { return t.plugins.KVBytes() }, Now: t.c.Now, Logger: t.log,
		Jobs: func() int64 { return t.Jobs.Known() }, Streams: func() int64 { return t.Live.Count() },
	})
}

// fileBytes measures the files that are documents, and the frontends.
func (t *Tenant) fileBytes(has quota.Documents) func(context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		files, err := has.FileBytes(ctx)
		if err != nil {
			return 0, err
		}
		frontends, err := t.frontends.Bytes()
		return files + frontends, err
	}
}

// measureQuotas measures what has grown old in the background, and shows it, until
// the tenant is closed.
func (t *Tenant) measureQuotas() {
	t.opened.run("the measuring of quotas", t.quota.Run)
	if t.c.Quotas != nil {
		t.opened.add("what is shown of quotas", t.c.Quotas.Follow(t.Site.Name, t.amounts))
	}
}

// databaseBytes is how much of its database the site uses.
func (t *Tenant) databaseBytes(ctx context.Context) (int64, error) {
	db, ok := t.Store.(*store.Store)
	if !ok {
		return 0, nil // a test stands before it
	}
	return db.UsedBytes(ctx)
}

// amounts is what /metrics shows of the site.
func (t *Tenant) amounts() map[string]metrics.Amount {
	all := map[string]metrics.Amount{}
	for name, a := range t.quota.Known() {
		all[name] = metrics.Amount{Used: a.Used, Quota: a.Quota}
	}
	return all
}
