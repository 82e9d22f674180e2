package store

import (
	"context"
	"math"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// listStatement is the statement of a list and its arguments.
func (s *Store) listStatement(sel *doctype.Select, how way) (*statement, []any, error) {
	k := s.takeKeyer()
	defer k.put()
	if err := k.list(sel, how); err != nil {
		return nil, nil, err
	}
	shapes := s.types.shapes(sel.DocType)
	if st, ok := shapes.lookup(k.key); ok {
		return st, k.args, nil
	}
	b := s.selection(sel)
	b.how = how
	b.p.hidden = s.engine.peeks && how != plainly
	cells, err := b.columns()
	if err != nil {
		return nil, nil, err
	}
	if err := b.from(); err != nil {
		return nil, nil, err
	}
	by, planned := onePlan(sel)
	if by != nil && s.engine.keepsPlans {
		b.pin(by)
	} else {
		if err := b.where(); err != nil {
			return nil, nil, err
		}
		b.newest()
		b.group()
		b.order()
	}
	text, err := s.text(b.paged())
	if err != nil {
		return nil, nil, err
	}
	st := &statement{text: text, dt: sel.DocType, cells: cells, list: true, planned: planned || how != plainly}
	return k.keep(shapes, st), k.args, nil
}

// countStatement counts the rows, or the groups, of a list.
func (s *Store) countStatement(sel *doctype.Select) (*statement, []any, error) {
	k := s.takeKeyer()
	defer k.put()
	if err := k.count(sel); err != nil {
		return nil, nil, err
	}
	shapes := s.types.shapes(sel.DocType)
	if st, ok := shapes.lookup(k.key); ok {
		return st, k.args, nil
	}
	b := s.selection(sel)
	if err := b.from(); err != nil {
		return nil, nil, err
	}
	if err := b.where(); err != nil {
		return nil, nil, err
	}
	var q schema.QueryAppender = b.q.ColumnExpr("COUNT(*)")
	if len(sel.Group) > 0 {
		b = s.selection(sel)
		b.q.ColumnExpr("1")
		if err := b.from(); err != nil {
			return nil, nil, err
		}
		if err := b.where(); err != nil {
			return nil, nil, err
		}
		b.group()
		q = expr("SELECT COUNT(*) FROM (?) AS ?", b.q, bun.Name("groups"))
	}
	text, err := s.text(q)
	if err != nil {
		return nil, nil, err
	}
	st := &statement{text: text, dt: sel.DocType, cells: []cell{{}}, list: true}
	return k.keep(shapes, st), k.args, nil
}

// AppendRows implements document.Tx.
func (t *tx) AppendRows(ctx context.Context, dst []byte, sel *doctype.Select, asArrays bool) ([]byte, int, error) {
	appendRow := appendObject
	if asArrays {
		appendRow = appendArray
	}
	limit := math.MaxInt
	if sel.MaxBytes > 0 {
		limit = len(dst) + sel.MaxBytes
	}
	out, n := dst, 0
	err := t.list(ctx, sel, func() { out, n = dst, 0 }, func(st *statement, values []any) error {
		if n > 0 {
			out = append(out, ',')
		}
		n++
		out = appendRow(out, st.cells, values, limit)
		if len(out) > limit {
			return doctype.ErrTooManyBytes
		}
		return nil
	})
	if err != nil {
		return dst, 0, err
	}
	return out, n, nil
}

// Rows implements document.Tx. fn must not use the Tx.
func (t *tx) Rows(ctx context.Context, sel *doctype.Select, fn func(values []any) error) error {
	if !choosy(sel) {
		return t.rowsOf(ctx, sel, plainly, func(st *statement, values []any) error {
			canonicalRow(st.cells, values)
			return fn(values)
		})
	}
	var page [][]any // shown once it is known to be the page
	err := t.list(ctx, sel, func() { page = page[:0] }, func(st *statement, values []any) error {
		values = slices.Clone(values)
		canonicalRow(st.cells, values)
		page = append(page, values)
		return nil
	})
	for _, values := range page {
		if err == nil {
			err = fn(values)
		}
	}
	return err
}

// Count implements document.Tx.
func (t *tx) Count(ctx context.Context, sel *doctype.Select) (n int64, err error) {
	if aggregated(sel) && len(sel.Group) == 0 {
		return 1, nil
	}
	st, args, err := t.s.countStatement(sel)
	if err != nil {
		return 0, err
	}
	err = t.read(ctx, st, "", args, func(values []any) error {
		n, _ = values[0].(int64)
		return nil
	})
	return n, err
}
