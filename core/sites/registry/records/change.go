package records

import (
	"context"
	"fmt"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/site"
	"armature/core/sites/registry"
)

// Create implements Registry. Of several at once under one name one succeeds.
func (r *Records) Create(ctx context.Context, name string) error {
	t, err := r.open(ctx)
	if err != nil {
		return err
	}
	_, err = t.reserve(ctx, row{site: name, state: live})
	return err
}

// Configure implements Registry: the row is locked from reading to writing.
func (r *Records) Configure(ctx context.Context, name string, change func(*site.Config) (*site.Config, error)) (next *site.Config, err error) {
	t, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	one, err := t.lives(ctx, name)
	if err != nil {
		return nil, err
	}
	err = t.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, siteSchema(), siteTable(), one.schema, true)
		if err != nil {
			return err
		}
		if doc.Text("state") != live {
			return registry.Missing(name)
		}
		old, err := t.configOf(one.schema, doc.Text("config"))
		if old == nil {
			return fmt.Errorf("site %s: %w", name, err)
		}
		if next, err = change(old); err != nil {
			return err
		}
		text, err := t.seal(one.schema, next)
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
func (r *Records) Drop(ctx context.Context, name string) (registry.Kept, error) {
	t, err := r.open(ctx)
	if err != nil {
		return registry.Kept{}, err
	}
	one, err := t.lives(ctx, name)
	if err != nil {
		return registry.Kept{}, err
	}
	return registry.Kept{Schema: one.schema}, t.moveAlone(ctx, one, live, dropped)
}

// Undrop implements Registry.
func (r *Records) Undrop(ctx context.Context, name string) error {
	t, err := r.open(ctx)
	if err != nil {
		return err
	}
	// One whose erasing was broken off before anything was deleted counts, too.
	rows, err := t.read(ctx, doctype.AllOf{is("site", name), doctype.AnyOf{is("state", dropped), is("state", leaving)}})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return registry.NeverDropped(name)
	}
	last := rows[len(rows)-1]
	return t.moveAlone(ctx, last, last.state, live)
}

// ClaimMaintenance implements Registry: of all servers the one that writes the time has the
// work.
func (r *Records) ClaimMaintenance(ctx context.Context, rec *registry.Record) (mine bool, err error) {
	now := time.Now()
	r.mu.Lock()
	due := now.Sub(r.maintained[rec.ID]) >= registry.MaintainEvery
	r.mu.Unlock()
	if !due {
		return false, nil
	}
	t, err := r.open(ctx)
	if err != nil {
		return false, err
	}
	last := now
	err = t.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		mine, last = false, now
		doc, err := tx.Get(ctx, siteSchema(), siteTable(), rec.ID, true)
		if err != nil {
			return err
		}
		seconds, _ := doc.Get("tended").(int64)
		if since := now.Sub(time.Unix(seconds, 0)); since < registry.MaintainEvery {
			last = time.Unix(seconds, 0)
			return nil
		}
		mine, err = tx.UpdateIf(ctx, siteTable(), rec.ID, nil, map[string]any{"tended": now.Unix()})
		return err
	})
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.maintained[rec.ID] = last
	return mine, nil
}

// Erase implements Registry.
func (r *Records) Erase(ctx context.Context, name string) (kept int, err error) {
	t, err := r.open(ctx)
	if err != nil {
		return 0, err
	}
	return t.erase(ctx, name)
}

// Stage implements Registry.
func (r *Records) Stage(ctx context.Context, name string) (registry.Stage, error) {
	t, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return t.stage(ctx, name)
}

// Sweep implements Registry.
func (r *Records) Sweep(ctx context.Context) error {
	t, err := r.open(ctx)
	if err != nil {
		return err
	}
	return t.sweep(ctx)
}
