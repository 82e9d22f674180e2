package host

import (
	"context"
	"log/slog"

	"armature/core/document"
	"armature/core/store"
)

// openStore opens a site's database: a file in the site's folder, or a schema of
// its own in the PostgreSQL database of all sites.
func (s *Set) openStore(ctx context.Context, name string, log *slog.Logger) (document.Store, error) {
	url := s.c.Database
	if url == "" {
		url = s.c.Layout.database(name)
	}
	o := s.c.Store
	o.Logger, o.Slow = log, s.c.SlowStatement
	return store.Open(ctx, url, schemaName(name), o)
}

// schemaName is the PostgreSQL schema of a site.
func schemaName(name string) string { return "site_" + name }
