package records

import (
	"context"
	"os"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/query"
	"armature/core/site"
	"armature/core/sites/registry"
)

// Look implements Registry: it asks whether anything has changed, and for
// everything where it has.
func (r *Records) Look(ctx context.Context) ([]*registry.Record, error) {
	t, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.looking.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.looking.Release(1)
	// The number first: what changes after it was read is seen by the next look.
	versions, err := t.db.Versions(ctx)
	if err != nil {
		return nil, err
	}
	if r.known && versions == r.versions {
		return r.list, nil
	}
	rows, err := t.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	r.take(t, rows)
	r.clearLeft(ctx, t)
	r.known, r.versions = true, versions
	return r.list, nil
}

// take makes records of rows, and keeps those whose rows are as they were.
func (r *Records) take(t *table, rows []row) {
	before, texts := make(map[string]*registry.Record, len(r.list)), make(map[string]string, len(rows))
	for _, old := range r.list {
		before[old.ID] = old
	}
	list := make([]*registry.Record, 0, len(rows))
	for _, one := range rows {
		old := before[one.schema]
		if old == nil || r.texts[one.schema] != one.config {
			old = t.record(one, old)
		}
		texts[one.schema] = one.config
		list = append(list, old)
	}
	slices.SortFunc(list, func(a, b *registry.Record) int { return strings.Compare(a.Name, b.Name) })
	r.list, r.texts = list, texts
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range rows {
		if one.tended.After(r.maintained[one.schema]) {
			r.maintained[one.schema] = one.tended
		}
	}
}

func (t *table) record(one row, before *registry.Record) *registry.Record {
	rec := &registry.Record{Name: one.site, ID: one.schema, Place: t.place(one.schema)}
	rec.Config, rec.Broken = t.configOf(one.schema, one.config)
	if rec.Broken != nil {
		t.c.Logger.Error("read the configuration of a site", "site", one.site, "error", rec.Broken)
		if rec.Config = (&site.Config{}); before != nil {
			rec.Config = before.Config
		}
	}
	return rec
}

// Enter implements Registry. The folder is made when the site is first used on
// this machine.
func (r *Records) Enter(ctx context.Context, rec *registry.Record) error {
	t, err := r.open(ctx)
	if err != nil {
		return err
	}
	rows, err := t.read(ctx, is("name", rec.ID))
	if err != nil {
		return err
	}
	if len(rows) == 0 || rows[0].state != live {
		return registry.Missing(rec.Name)
	}
	return os.MkdirAll(r.c.Layout.SitePlugins(rec.Folder), 0o700)
}

// Left implements Registry: what this machine has of a site that is erased goes,
// too, as soon as the site cannot be put back any more.
func (r *Records) Left(ctx context.Context, rec *registry.Record) {
	r.mu.Lock()
	r.left[rec.ID] = rec.Folder
	r.mu.Unlock()
	t, err := r.open(ctx)
	if err != nil {
		return // at the next look
	}
	r.clearLeft(ctx, t)
}

// clearLeft removes the folders of the sites that were found gone and are erased,
// and goes on remembering those of the ones that can be put back.
func (r *Records) clearLeft(ctx context.Context, t *table) {
	r.mu.Lock()
	ids := make([]any, 0, len(r.left))
	for id := range r.left {
		ids = append(ids, id)
	}
	r.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	rows, err := t.read(ctx, doctype.Compare{Operand: operand("name"), Op: query.In, Value: ids})
	if err != nil {
		r.c.Logger.Error("see what became of sites that are gone", "error", err)
		return // at the next look that finds a change
	}
	for _, one := range rows {
		if one.state == leaving || one.state == dropped { // and may be erased yet
			continue
		}
		r.mu.Lock()
		folder := r.left[one.schema]
		delete(r.left, one.schema)
		r.mu.Unlock()
		if folder == "" || one.state != erasing && one.state != erased {
			continue
		}
		if err := os.RemoveAll(r.c.Layout.Site(folder)); err != nil {
			r.c.Logger.Error("remove the folder of a site that was erased", "site", one.site, "error", err)
		}
	}
}
