package tenant

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"armature/core/auth"
	"armature/core/backup"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/jobs"
	"armature/core/migration"
	"armature/core/schedule"
	"armature/core/site"
	"armature/core/social"
)

// privateTables are those of services that no request can name.
func privateTables() []*doctype.DocType {
	return slices.Concat(auth.Tables(), social.Tables(), []*doctype.DocType{jobs.Table(), schedule.Table()})
}

// besideTables are all that belong to no DocType; what is in those that are no
// privateTables belongs to a database and not to the site.
func besideTables() []*doctype.DocType { return append(privateTables(), backup.Table()) }

// formats is a site's database on its way to the format of this binary.
func (c *Config) formats(db document.Store, now func() time.Time, log *slog.Logger) *migration.Database {
	plan := migration.Plan{
		Migrations: migration.Numbered(),
		Shipped:    &doctypes.Shipped{Store: db, Now: now, Log: log, Beside: besideTables()},
	}
	if c.Plan != nil {
		plan = c.Plan(plan)
	}
	return &migration.Database{Store: db, Plan: plan, Log: log, Seal: c.Master.Reseal}
}

// Reads is migration.ErrNewer where only a newer version can use a database of
// which an archive says that state.
func (c *Config) Reads(state migration.State) error {
	_, err := c.formats(nil, nil, nil).Current(state)
	return err
}

// bring brings the site's database to the format of this binary and returns the
// site's key and DocTypes. Where that has been done before it only reads.
func (t *Tenant) bring(ctx context.Context, now func() time.Time) (*site.Secret, *doctype.Schema, error) {
	t.format = t.c.formats(t.Store, now, t.log)
	t.format.Lost = t.home.Lost
	state, schema, err := t.format.Bring(ctx)
	if err != nil {
		return nil, nil, err
	}
	secret, err := t.c.Master.OpenSecret(state.Sealed)
	if err != nil {
		return nil, nil, err
	}
	t.found, t.withheld = state, t.format.Withheld()
	t.looked.Store(schema.Version)
	t.setPaused(state.Paused)
	return secret, schema, nil
}

// installWithheld installs what this binary ships and the site has not, because it
// had DocTypes of its own under these names, once those have others.
func (t *Tenant) installWithheld(ctx context.Context) error {
	t.withholding.Lock()
	defer t.withholding.Unlock()
	waits := func(name string) bool {
		dt := t.Documents.Schema().DocType(name)
		return dt != nil && dt.Custom
	}
	if !slices.ContainsFunc(t.withheld, func(name string) bool { return !waits(name) }) {
		return nil
	}
	format := t.c.formats(t.Store, t.Site.Now, t.log)
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
