package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// text lets bun build the SQL of a query.
func (s *Store) text(q schema.QueryAppender) (string, error) {
	b, err := q.AppendQuery(s.bun.QueryGen(), nil)
	if err != nil {
		return "", fmt.Errorf("build SQL: %w", err)
	}
	return string(b), nil
}

// statement builds one of a DocType's statements, or takes it from the cache.
func (s *Store) statement(dt *doctype.DocType, key string, build func() (schema.QueryAppender, []cell)) (*statement, error) {
	shapes := s.types.shapes(dt)
	if st, ok := shapes.texts.get(key); ok {
		return st, nil
	}
	q, cells := build()
	text, err := s.text(q)
	if err != nil {
		return nil, err
	}
	return shapes.texts.put(key, &statement{text: text, dt: dt, cells: cells}), nil
}

// ddl runs a statement of schema change, which is never cached.
func (s *Store) ddl(ctx context.Context, c conn, q schema.QueryAppender) error {
	text, err := s.text(q)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, c, &statement{text: text, fleeting: true}, nil)
	return err
}

// allCells are the cells of every stored field.
func allCells(dt *doctype.DocType) []cell {
	cells := make([]cell, len(dt.Columns))
	for i, f := range dt.Columns {
		cells[i].field = f
	}
	return cells
}
