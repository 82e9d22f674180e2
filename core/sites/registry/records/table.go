package records

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/site"
	"armature/core/sites/registry"
	"armature/core/store"
)

// table is the table of the sites, opened: of all there are and ever were.
type table struct {
	c  *Config
	db *store.Store
}

// read reads rows; where nil: those of the sites there are, by name.
func (t *table) read(ctx context.Context, where doctype.Where) (rows []row, err error) {
	if where == nil {
		where = is("state", live)
	}
	sel := &doctype.Select{DocType: siteTable(), Where: where, Order: []doctype.OrderBy{
		{Operand: operand("site")}, {Operand: operand("modified")}, {Operand: operand("name")},
	}}
	for _, field := range []string{"name", "site", "state", "config", "modified", "tended"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: operand(field), Key: field})
	}
	err = t.db.Read(ctx, func(tx document.Tx) error {
		rows = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			var one row
			for i, to := range []*string{&one.schema, &one.site, &one.state, &one.config, &one.modified} {
				*to, _ = v[i].(string)
			}
			seconds, _ := v[5].(int64)
			one.tended = time.Unix(seconds, 0)
			rows = append(rows, one)
			return nil
		})
	})
	return rows, err
}

// lives finds the row of a site that is there.
func (t *table) lives(ctx context.Context, name string) (row, error) {
	rows, err := t.read(ctx, is("live", name))
	if err == nil && len(rows) == 0 {
		err = registry.Missing(name)
	}
	if err != nil {
		return row{}, err
	}
	return rows[0], nil
}

// reserve stores a new site and finds a schema for it: the one of its name, or,
// where there is or ever was such a one, one with a mark.
func (t *table) reserve(ctx context.Context, one row) (schema string, err error) {
	if err := site.CheckName(one.site); err != nil {
		return "", err
	}
	plain := schemaPrefix + one.site
	used, err := store.HasSchema(ctx, t.c.Database, plain)
	if err != nil {
		return "", err
	}
	one.schema = plain
	if !used {
		err = t.insert(ctx, one)
		used = fault.KindOf(err) == fault.Conflict
	}
	if used {
		one.schema = plain + "_" + registry.NewMark()
		err = t.insert(ctx, one)
	}
	if fault.KindOf(err) == fault.Validation { // live is the one unique field
		err = registry.Taken(one.site)
	}
	return one.schema, err
}

func (t *table) insert(ctx context.Context, one row) error {
	return t.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if err := tx.Insert(ctx, one.document()); err != nil {
			return err
		}
		return tx.BumpEpoch(ctx)
	})
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
		return registry.Taken(one.site)
	case err == nil && !moved:
		return registry.Missing(one.site)
	case err != nil:
		return err
	}
	return tx.BumpEpoch(ctx)
}

func (t *table) moveAlone(ctx context.Context, one row, from, to string) error {
	return t.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return move(ctx, tx, one, from, to) })
}

func (t *table) place(schema string) registry.Place {
	return registry.Place{Folder: folderOf(schema), Database: t.c.Database, Schema: schema}
}

// configOf opens a configuration as it is stored.
func (t *table) configOf(schema, sealed string) (*site.Config, error) {
	if sealed == "" {
		return &site.Config{}, nil
	}
	text, err := t.c.Master.OpenConfig(schema, sealed)
	if err != nil {
		return nil, err
	}
	return registry.ParseConfig(text)
}

// seal makes what is stored of a configuration, if it may be.
func (t *table) seal(schema string, c *site.Config) (string, error) {
	if err := registry.CheckConfig(c); err != nil {
		return "", err
	}
	text, err := c.MarshalJSON()
	if err != nil {
		return "", err
	}
	return t.c.Master.SealConfig(schema, text), nil
}
