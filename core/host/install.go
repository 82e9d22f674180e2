package host

import (
	"context"
	"os"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/migration"
	"armature/core/site"
)

// privateTables are those of services that no request can name.
func privateTables() []*doctype.DocType { return auth.Tables() }

// migration is a site's database on its way to the format of this binary.
func (s *Set) migration(t *Tenant, now func() time.Time) *migration.Site {
	plan := migration.Plan{
		Migrations: migration.Numbered(),
		Shipped:    &doctypes.Shipped{Store: t.Store, Now: now, Log: t.log, Beside: privateTables()},
	}
	if s.c.Plan != nil {
		plan = s.c.Plan(plan)
	}
	return &migration.Site{Store: t.Store, Plan: plan, Log: t.log, Seal: s.c.Master.Reseal}
}

// prepare brings a site's database to the format of this binary and returns the
// site's key and DocTypes. Where that has been done before it only reads. lost is the
// answer where the database is empty; nil: it may be.
func (s *Set) prepare(ctx context.Context, t *Tenant, now func() time.Time, lost error) (*site.Secret, *doctype.Schema, error) {
	t.format = s.migration(t, now)
	t.format.Lost = lost
	state, schema, err := t.format.Bring(ctx)
	if err != nil {
		return nil, nil, err
	}
	secret, err := s.c.Master.OpenSecret(state.Sealed)
	if err != nil {
		return nil, nil, err
	}
	dir := s.c.Layout.Site(t.folder)
	if _, err := os.Stat(dir); err == nil { // on PostgreSQL a machine may have none
		if err := (marker{Identity: state.Identity}).note(dir); err != nil {
			t.log.Error("note that the site has a database", "error", err)
		}
	}
	return secret, schema, nil
}
