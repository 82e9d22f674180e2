package store

import (
	"context"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// columnList names columns, for SELECT and INSERT.
func columnList(fields []*doctype.Field) *joined {
	l := &joined{sep: ", "}
	for _, f := range fields {
		l.add("?", bun.Name(f.Column))
	}
	return l
}

func (s *Store) getStatement(dt *doctype.DocType, lock bool) (*statement, error) {
	key := "get"
	if lock = lock && s.engine.rowLock; lock {
		key = "get for update"
	}
	return s.statement(dt, key, func() (schema.QueryAppender, []cell) {
		q := s.bun.NewSelect().
			ColumnExpr("?", columnList(dt.Columns)).
			TableExpr("?", bun.Name(dt.Table)).
			Where("? = ?", bun.Name("name"), s.engine.params().next())
		if lock {
			q.For("UPDATE")
		}
		return q, allCells(dt)
	})
}

// rowsStatement reads the child rows of one document in one table field.
func (s *Store) rowsStatement(child *doctype.DocType) (*statement, error) {
	return s.statement(child, "rows", func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		return s.bun.NewSelect().
			ColumnExpr("?", columnList(child.Columns)).
			TableExpr("?", bun.Name(child.Table)).
			Where("? = ?", bun.Name("parent"), p.next()).
			Where("? = ?", bun.Name("parenttype"), p.next()).
			Where("? = ?", bun.Name("parentfield"), p.next()).
			OrderExpr("?, ?", bun.Name("idx"), bun.Name("name")), allCells(child)
	})
}

// Get implements document.Tx.
func (t *tx) Get(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string, lock bool) (*doctype.Document, error) {
	if !storable(name) {
		return nil, missing(dt, name)
	}
	st, err := t.s.getStatement(dt, lock && t.kind == whole)
	if err != nil {
		return nil, err
	}
	if lock && t.kind == whole {
		t.touch(dt, name)
	}
	t.checked = lock && len(dt.Tables) == 0
	defer func() { t.checked = false }()
	var doc *doctype.Document
	err = t.read(ctx, st, name, []any{name}, func(values []any) error {
		doc = loadRow(dt, st.cells, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, missing(dt, name)
	}
	for _, table := range dt.Tables {
		if err := t.loadRows(ctx, sc, doc, table); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func (t *tx) loadRows(ctx context.Context, sc *doctype.Schema, doc *doctype.Document, table *doctype.Field) error {
	child := childOf(sc, table)
	if child == nil {
		return nil
	}
	st, err := t.s.rowsStatement(child)
	if err != nil {
		return err
	}
	rows := []*doctype.Document{}
	err = t.read(ctx, st, "", []any{doc.Name(), doc.Type.Name, table.Name}, func(values []any) error {
		rows = append(rows, loadRow(child, st.cells, values))
		return nil
	})
	doc.PutRows(table.Name, rows)
	return err
}

func loadRow(dt *doctype.DocType, cells []cell, values []any) *doctype.Document {
	kept := make([]any, len(values))
	copy(kept, values)
	canonicalRow(cells, kept)
	return doctype.LoadDocument(dt, kept)
}

// childOf is the DocType of a table field's rows, or nil: a table whose DocType
// was deleted has no rows.
func childOf(sc *doctype.Schema, table *doctype.Field) *doctype.DocType {
	if sc == nil {
		return nil
	}
	return sc.DocType(table.Options)
}

// AppendDocument implements document.Tx.
func (t *tx) AppendDocument(ctx context.Context, dst []byte, sc *doctype.Schema, dt *doctype.DocType, name string,
	view doctype.View, check func(values []any) error) ([]byte, error) {
	if !storable(name) {
		return dst, missing(dt, name)
	}
	st, err := t.s.getStatement(dt, false)
	if err != nil {
		return dst, err
	}
	found := false
	out := dst
	err = t.read(ctx, st, name, []any{name}, func(values []any) error {
		found = true
		canonicalRow(st.cells, values)
		if check != nil {
			if err := check(values); err != nil {
				return err
			}
		}
		out = doctype.AppendRow(append(out, '{'), dt, values, view)
		return nil
	})
	if err != nil {
		return dst, err
	}
	if !found {
		return dst, missing(dt, name)
	}
	for _, table := range dt.Tables {
		if view.Levels&(1<<table.PermLevel) == 0 {
			continue
		}
		if out, err = t.appendTable(ctx, out, sc, dt, name, table, view); err != nil {
			return dst, err
		}
	}
	return append(out, '}'), nil
}

func (t *tx) appendTable(ctx context.Context, dst []byte, sc *doctype.Schema, dt *doctype.DocType, name string,
	table *doctype.Field, view doctype.View) ([]byte, error) {
	dst = doctype.AppendTableKey(dst, table)
	child := childOf(sc, table)
	if child == nil {
		return append(dst, ']'), nil
	}
	st, err := t.s.rowsStatement(child)
	if err != nil {
		return dst, err
	}
	first := true
	err = t.read(ctx, st, "", []any{name, dt.Name, table.Name}, func(values []any) error {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		canonicalRow(st.cells, values)
		dst = doctype.AppendRow(append(dst, '{'), child, values, view)
		for _, nested := range child.Tables { // a row has no rows of its own
			dst = append(doctype.AppendTableKey(dst, nested), ']')
		}
		dst = append(dst, '}')
		return nil
	})
	return append(dst, ']'), err
}

// Absent implements document.Tx.
func (t *tx) Absent(ctx context.Context, dt *doctype.DocType, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	st, err := t.s.statement(dt, "present", func() (schema.QueryAppender, []cell) {
		name := bun.Name("name")
		return t.s.bun.NewSelect().
			ColumnExpr("?", name).
			TableExpr("?", bun.Name(dt.Table)).
			Where(t.s.engine.in, name, t.s.engine.params().next()), []cell{{field: dt.Columns[doctype.ColName]}}
	})
	if err != nil {
		return nil, err
	}
	values := make([]any, len(names))
	for i, n := range names {
		if !storable(n) {
			values[i] = "" // no document can have it
			continue
		}
		values[i] = n
	}
	present := make(map[string]bool, len(names))
	err = t.read(ctx, st, "", []any{t.s.engine.list(values)}, func(row []any) error {
		name, _ := row[0].(string)
		present[name] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var absent []string
	for _, n := range names {
		if !present[n] {
			absent = append(absent, n)
		}
	}
	return absent, nil
}
