package sites

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"armature/core/auth"
	"armature/core/backup"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/migration"
	"armature/core/site"
)

// privateTables are those of services that no request can name.
func privateTables() []*doctype.DocType { return auth.Tables() }

// besideTables are all that belong to no DocType; what is in those that are no
// privateTables belongs to a database and not to the site.
func besideTables() []*doctype.DocType { return append(privateTables(), backup.Table()) }

// migration is a site's database on its way to the format of this binary.
func (s *Set) migration(t *Tenant, now func() time.Time) *migration.Site {
	plan := migration.Plan{
		Migrations: migration.Numbered(),
		Shipped:    &doctypes.Shipped{Store: t.Store, Now: now, Log: t.log, Beside: besideTables()},
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
	t.found, t.withheld = state, t.format.Withheld()
	t.looked.Store(schema.Version)
	t.pause(state.Paused)
	dir := s.c.Layout.Site(t.folder)
	if _, err := os.Stat(dir); err == nil { // on PostgreSQL a machine may have none
		if err := (marker{Identity: state.Identity}).note(dir); err != nil {
			t.log.Error("note that the site has a database", "error", err)
		}
	}
	return secret, schema, nil
}

// installWithheld installs what this binary ships and the site has not, because it
// had DocTypes of its own under these names, once those have others.
func (t *Tenant) installWithheld(ctx context.Context) error {
	t.lacks.Lock()
	defer t.lacks.Unlock()
	waits := func(name string) bool {
		dt := t.Documents.Schema().DocType(name)
		return dt != nil && dt.Custom
	}
	if !slices.ContainsFunc(t.withheld, func(name string) bool { return !waits(name) }) {
		return nil
	}
	format := t.set.migration(t, t.Site.Now)
	_, _, err := format.Bring(ctx)
	if err == nil {
		err = t.Documents.Refresh(ctx)
	}
	if err != nil {
		return fmt.Errorf("install what a DocType of the site's stood in the way of: %w", err)
	}
	t.withheld = format.Withheld()
	return nil
}
