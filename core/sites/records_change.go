package sites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/site"
	"armature/core/store"
)

// Create implements Registry. Of several at once under one name one succeeds.
func (r *records) Create(ctx context.Context, name string) error {
	db, err := r.open(ctx)
	if err != nil {
		return err
	}
	_, err = r.reserve(ctx, db, row{site: name, state: live})
	return err
}

// reserve stores a new site and finds a schema for it: the one of its name, or,
// where there is or ever was such a one, one with a mark.
func (r *records) reserve(ctx context.Context, db *store.Store, one row) (schema string, err error) {
	if err := site.CheckName(one.site); err != nil {
		return "", err
	}
	plain := schemaPrefix + one.site
	used, err := store.HasSchema(ctx, r.c.Database, plain)
	if err != nil {
		return "", err
	}
	one.schema = plain
	if !used {
		err = r.insert(ctx, db, one)
		used = fault.KindOf(err) == fault.Conflict
	}
	if used {
		one.schema = plain + "_" + newMark()
		err = r.insert(ctx, db, one)
	}
	if fault.KindOf(err) == fault.Validation { // live is the one unique field
		err = taken(one.site)
	}
	return one.schema, err
}

func (r *records) insert(ctx context.Context, db *store.Store, one row) error {
	return db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if err := tx.Insert(ctx, one.document()); err != nil {
			return err
		}
		return tx.BumpEpoch(ctx)
	})
}

func (one row) document() *doctype.Document {
	doc := doctype.NewDocument(siteTable())
	now := stamp()
	for field, value := range map[string]any{
		"name": one.schema, "site": one.site, "state": one.state, "config": one.config,
		"owner": identity.Administrator, "modified_by": identity.Administrator, "creation": now, "modified": now,
	} {
		doc.Put(field, value)
	}
	if one.state == live {
		doc.Put("live", one.site)
	}
	return doc
}

func stamp() string { return doctype.FormatDatetime(time.Now().UTC()) }

// lives finds the row of a site that is there.
func (r *records) lives(ctx context.Context, db *store.Store, name string) (row, error) {
	rows, err := r.read(ctx, db, is("live", name))
	if err == nil && len(rows) == 0 {
		err = missing(name)
	}
	if err != nil {
		return row{}, err
	}
	return rows[0], nil
}

// move brings a row from one state to another in a transaction; it is
// fs.ErrNotExist where the row is not in the first one any more.
func move(ctx context.Context, tx document.Tx, one row, from, to string) error {
	set := map[string]any{"state": to, "live": nil, "modified": stamp()}
	switch to {
	case live:
		set["live"] = one.site
	case erased:
		set["config"] = nil
	}
	moved, err := tx.UpdateIf(ctx, siteTable(), one.schema, map[string]any{"state": from}, set)
	switch {
	case fault.KindOf(err) == fault.Validation:
		return taken(one.site)
	case err == nil && !moved:
		return missing(one.site)
	case err != nil:
		return err
	}
	return tx.BumpEpoch(ctx)
}

func (r *records) moveAlone(ctx context.Context, db *store.Store, one row, from, to string) error {
	return db.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return move(ctx, tx, one, from, to) })
}

// Configure implements Registry: the row is locked from reading to writing.
func (r *records) Configure(ctx context.Context, name string, change func(*site.Config) (*site.Config, error)) (next *site.Config, err error) {
	db, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	one, err := r.lives(ctx, db, name)
	if err != nil {
		return nil, err
	}
	err = db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, siteSchema(), siteTable(), one.schema, true)
		if err != nil {
			return err
		}
		if doc.Text("state") != live {
			return missing(name)
		}
		old, err := r.configOf(one.schema, doc.Text("config"))
		if old == nil {
			return fmt.Errorf("site %s: %w", name, err)
		}
		if next, err = change(old); err != nil {
			return err
		}
		text, err := r.seal(one.schema, next)
		if err != nil {
			return err
		}
		_, err = tx.UpdateIf(ctx, siteTable(), one.schema, nil, map[string]any{"config": text, "modified": stamp()})
		if err != nil {
			return err
		}
		return tx.BumpEpoch(ctx)
	})
	return next, err
}

// Drop implements Registry. The schema stays, and so does the folder of the site
// on each machine: neither is ever another site's.
func (r *records) Drop(ctx context.Context, name string) (Kept, error) {
	db, err := r.open(ctx)
	if err != nil {
		return Kept{}, err
	}
	one, err := r.lives(ctx, db, name)
	if err != nil {
		return Kept{}, err
	}
	return Kept{Schema: one.schema}, r.moveAlone(ctx, db, one, live, dropped)
}

// Undrop implements Registry.
func (r *records) Undrop(ctx context.Context, name string) error {
	db, err := r.open(ctx)
	if err != nil {
		return err
	}
	// One whose erasing was broken off before anything was deleted counts, too.
	rows, err := r.read(ctx, db, doctype.AllOf{is("site", name), doctype.AnyOf{is("state", dropped), is("state", leaving)}})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return &siteError{name, "has not been dropped", fs.ErrNotExist}
	}
	last := rows[len(rows)-1]
	return r.moveAlone(ctx, db, last, last.state, live)
}

// ClaimMaintenance implements Registry: of all servers the one that writes the time has the
// work.
func (r *records) ClaimMaintenance(ctx context.Context, rec *Record) (mine bool, err error) {
	now := time.Now()
	r.mu.Lock()
	due := now.Sub(r.maintained[rec.id]) >= maintainEvery
	r.mu.Unlock()
	if !due {
		return false, nil
	}
	db, err := r.open(ctx)
	if err != nil {
		return false, err
	}
	last := now
	err = db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		mine, last = false, now
		doc, err := tx.Get(ctx, siteSchema(), siteTable(), rec.id, true)
		if err != nil {
			return err
		}
		seconds, _ := doc.Get("tended").(int64)
		if since := now.Sub(time.Unix(seconds, 0)); since < maintainEvery {
			last = time.Unix(seconds, 0)
			return nil
		}
		mine, err = tx.UpdateIf(ctx, siteTable(), rec.id, nil, map[string]any{"tended": now.Unix()})
		return err
	})
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.maintained[rec.id] = last
	return mine, nil
}

// stagedRow is a site that is made in a schema and a folder of its own.
type stagedRow struct {
	r   *records
	db  *store.Store
	row row
}

// Stage implements Registry.
func (r *records) Stage(ctx context.Context, name string) (Stage, error) {
	db, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	one := row{site: name, state: staged}
	if one.schema, err = r.reserve(ctx, db, one); err != nil {
		return nil, err
	}
	s := &stagedRow{r, db, one}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *stagedRow) Place() Place { return s.r.place(s.row.schema) }
func (s *stagedRow) Dir() string  { return s.r.c.Layout.Site(folderOf(s.row.schema)) }

// Publish implements Stage, in one transaction.
func (s *stagedRow) Publish(ctx context.Context, config *site.Config, replace bool) (Kept, error) {
	text, err := s.r.seal(s.row.schema, config)
	if err != nil {
		return Kept{}, err
	}
	old, err := s.r.lives(ctx, s.db, s.row.site)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Kept{}, err
	case !replace:
		return Kept{}, taken(s.row.site)
	}
	err = s.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if old.schema != "" {
			if err := move(ctx, tx, old, live, dropped); err != nil {
				return err
			}
		}
		if _, err := tx.UpdateIf(ctx, siteTable(), s.row.schema, nil, map[string]any{"config": text}); err != nil {
			return err
		}
		return move(ctx, tx, s.row, staged, live)
	})
	return Kept{Schema: old.schema}, err
}

// Discard implements Stage. What was published after all, in a transaction whose
// answer was lost, is left alone.
func (s *stagedRow) Discard() error {
	ctx := context.Background()
	err := s.r.moveAlone(ctx, s.db, s.row, staged, erasing)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.r.wipe(ctx, s.db, s.row)
	}
	return err
}
