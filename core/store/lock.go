package store

import (
	"context"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// Lock implements document.Tx. Where there is one writer nothing need be locked.
func (t *tx) Lock(ctx context.Context, dt *doctype.DocType, names []string) error {
	if !t.s.engine.rowLock || t.kind != whole || len(names) == 0 {
		return nil
	}
	values := make([]any, 0, len(names))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if storable(name) {
			values = append(values, name)
			t.touch(dt, name)
		}
	}
	st, err := t.s.statement(dt, "lock", func() (schema.QueryAppender, []cell) {
		name := bun.Name("name")
		return t.s.bun.NewSelect().
			ColumnExpr("?", name).
			TableExpr("?", bun.Name(dt.Table)).
			Where(t.s.engine.in, name, t.s.engine.params().next()).
			OrderExpr("?", name).
			For("UPDATE"), []cell{{field: dt.Columns[doctype.ColName]}}
	})
	if err != nil {
		return err
	}
	return t.read(ctx, st, "", []any{t.s.engine.list(values)}, func([]any) error { return nil })
}
