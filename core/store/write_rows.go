package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// insertRows stores the rows of one table field.
func (s *Store) insertRows(ctx context.Context, c conn, parent *doctype.Document, table *doctype.Field) error {
	rows := parent.Rows(table.Name)
	if len(rows) == 0 {
		return nil
	}
	child := rows[0].Type
	all := make([][]any, len(rows))
	for i, row := range rows {
		all[i] = boundRow(parent, table, row)
	}
	if s.engine.unnest != nil && len(rows) > 1 {
		return s.explain(s.insertAtOnce(ctx, c, child, all), child, "in "+parent.Name())
	}
	for i, values := range all {
		if err := s.insertRow(ctx, c, child, values); err != nil {
			return s.explain(err, child, rows[i].Name())
		}
	}
	return nil
}

// boundRow are the values of a child row. What ties it to its parent is written
// here, so that no row can be stored loose.
func boundRow(parent *doctype.Document, table *doctype.Field, row *doctype.Document) []any {
	values := slices.Clone(bound(row))
	values[doctype.ColParent] = parent.Name()
	values[doctype.ColParentType] = parent.Type.Name
	values[doctype.ColParentField] = table.Name
	return values
}

// insertAtOnce stores rows with one statement whose text is the same for any
// number of them: each argument is a column.
func (s *Store) insertAtOnce(ctx context.Context, c conn, dt *doctype.DocType, rows [][]any) error {
	st, err := s.statement(dt, "insert many", func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		arrays := &joined{sep: ", "}
		for _, f := range dt.Columns {
			arrays.add("CAST(? AS ?)", p.next(), bun.Safe(s.engine.unnest[f.Kind]))
		}
		return expr("INSERT INTO ? (?) SELECT * FROM unnest(?)", bun.Name(dt.Table), columnList(dt.Columns), arrays), nil
	})
	if err != nil {
		return err
	}
	args := make([]any, len(dt.Columns))
	column := make([]any, len(rows))
	for i := range dt.Columns {
		for n, row := range rows {
			column[n] = row[i]
		}
		args[i] = s.engine.list(column)
	}
	_, err = s.exec(ctx, c, st, args)
	return err
}

// replaceRows deletes the stored rows of a table field and stores the
// document's.
func (s *Store) replaceRows(ctx context.Context, c conn, sc *doctype.Schema, doc *doctype.Document, table *doctype.Field) error {
	child := childOf(sc, table)
	if child == nil {
		return fmt.Errorf("store: no DocType %q for table %s of %s", table.Options, table.Name, doc.Type.Name)
	}
	st, err := s.statement(child, "delete rows", func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		return s.bun.NewDelete().
			TableExpr("?", bun.Name(child.Table)).
			Where("? = ?", bun.Name("parent"), p.next()).
			Where("? = ?", bun.Name("parenttype"), p.next()).
			Where("? = ?", bun.Name("parentfield"), p.next()), nil
	})
	if err != nil {
		return err
	}
	if _, err := s.exec(ctx, c, st, []any{doc.Name(), doc.Type.Name, table.Name}); err != nil {
		return err
	}
	return s.insertRows(ctx, c, doc, table)
}

func (s *Store) deleteChildren(ctx context.Context, c conn, sc *doctype.Schema, dt *doctype.DocType, name string) error {
	done := map[*doctype.DocType]bool{}
	for _, table := range dt.Tables {
		child := childOf(sc, table)
		if child == nil || done[child] {
			continue
		}
		done[child] = true
		st, err := s.statement(child, "delete all rows", func() (schema.QueryAppender, []cell) {
			p := s.engine.params()
			return s.bun.NewDelete().
				TableExpr("?", bun.Name(child.Table)).
				Where("? = ?", bun.Name("parent"), p.next()).
				Where("? = ?", bun.Name("parenttype"), p.next()), nil
		})
		if err != nil {
			return err
		}
		if _, err := s.exec(ctx, c, st, []any{name, dt.Name}); err != nil {
			return err
		}
	}
	return nil
}
