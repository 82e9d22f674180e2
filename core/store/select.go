package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// selection builds the SQL of one list.
type selection struct {
	s   *Store
	sel *document.Select
	p   *params
	q   *bun.SelectQuery
}

func (s *Store) selection(sel *document.Select) *selection {
	return &selection{s: s, sel: sel, p: s.engine.params(), q: s.bun.NewSelect()}
}

// operand names a column; the table is named only where there are several.
func (b *selection) operand(o document.Operand) schema.QueryAppender {
	column := bun.Name(o.Field.Column)
	if len(b.sel.Joins) == 0 {
		return column
	}
	return expr("?.?", tableAlias(o.Join), column)
}

func tableAlias(join int) bun.Name { return bun.Name(fmt.Sprintf("t%d", join)) }

// from writes the tables: a link brings at most one row, a child table all of
// the document's in that field.
func (b *selection) from() {
	sel := b.sel
	if len(sel.Joins) == 0 {
		b.q.TableExpr("?", bun.Name(sel.DocType.Table))
		return
	}
	base := tableAlias(0)
	b.q.TableExpr("? AS ?", bun.Name(sel.DocType.Table), base)
	for i, j := range sel.Joins {
		target := tableAlias(i + 1)
		on := &joined{sep: " AND "}
		if j.Via.Storage == document.Rows {
			on.add("?.? = ?.?", target, bun.Name("parent"), base, bun.Name("name"))
			on.add("?.? = ?", target, bun.Name("parenttype"), b.p.next())
			on.add("?.? = ?", target, bun.Name("parentfield"), b.p.next())
		} else {
			on.add("?.? = ?.?", target, bun.Name("name"), base, bun.Name(j.Via.Column))
		}
		b.q.Join("LEFT JOIN ? AS ? ON ?", bun.Name(j.Target.Table), target, on)
	}
}

func (b *selection) where() error {
	if b.sel.Where == nil {
		return nil
	}
	w := &whereBuilder{e: &b.s.engine, p: b.p, operand: b.operand}
	if err := b.s.engine.walkWhere(b.sel.Where, w); err != nil {
		return err
	}
	if w.out != nil {
		b.q.Where("?", w.out)
	}
	return nil
}

// aggregated reports whether rows of the table are folded.
func aggregated(sel *document.Select) bool {
	if len(sel.Group) > 0 {
		return true
	}
	for _, c := range sel.Columns {
		if c.Func != "" {
			return true
		}
	}
	return false
}

// column is the SQL of an output column. A plain column beside aggregates is
// the least of its group: one database refuses it, the other answers with the
// value of some row.
func (b *selection) column(c document.Column) (schema.QueryAppender, error) {
	if c.Func == "" {
		return b.folded(c.Operand, "MIN(?)"), nil
	}
	if c.Field == nil {
		if c.Func != query.Count {
			return nil, fault.Invalid("DataError", "%s needs a field", c.Func)
		}
		return expr("COUNT(*)"), nil
	}
	operand := b.operand(c.Operand)
	storage := c.Field.Storage
	number := !storage.Nullable()
	switch {
	case c.Func == query.Count:
		return expr("COUNT(?)", operand), nil
	case c.Func == query.Min:
		return expr("MIN(?)", operand), nil
	case c.Func == query.Max:
		return expr("MAX(?)", operand), nil
	case c.Func == query.Avg && number:
		return expr(b.s.engine.avg, operand), nil
	case c.Func == query.Sum && storage == document.Float:
		return expr("SUM(?)", operand), nil
	case c.Func == query.Sum && number:
		return expr(b.s.engine.sumInt, operand), nil
	}
	return nil, fault.Invalid("DataError", "%s cannot be taken of %s", c.Func, c.Field.Name)
}

// folded is an operand, or inside a group that it does not name, one value of
// it.
func (b *selection) folded(o document.Operand, fold string) schema.QueryAppender {
	operand := b.operand(o)
	if !aggregated(b.sel) {
		return operand
	}
	for _, g := range b.sel.Group {
		if g == o {
			return operand
		}
	}
	return expr(fold, operand)
}

func (b *selection) columns() ([]cell, error) {
	cells := make([]cell, len(b.sel.Columns))
	for i, c := range b.sel.Columns {
		q, err := b.column(c)
		if err != nil {
			return nil, err
		}
		b.q.ColumnExpr("?", q)
		cells[i].key = append(document.AppendString(nil, c.Key), ':')
		switch c.Func {
		case "", query.Min, query.Max:
			cells[i].field = c.Field
		}
	}
	return cells, nil
}

// order writes the sort keys and, so that pages do not overlap, what makes them
// total: the name, or for groups the whole key of the group.
func (b *selection) order() {
	sel := b.sel
	folded := aggregated(sel)
	if folded && len(sel.Group) == 0 {
		return // one row
	}
	desc := false
	seen := map[document.Operand]bool{}
	for _, o := range sel.Order {
		desc = o.Desc
		if position, nullable := b.alias(o.Alias); position > 0 {
			b.sort(expr("?", bun.Safe(fmt.Sprint(position))), nullable, o.Desc)
			continue
		}
		if o.Field == nil {
			continue
		}
		fold := "MIN(?)"
		if o.Desc {
			fold = "MAX(?)"
		}
		b.sort(b.folded(o.Operand, fold), nullable(o.Operand), o.Desc)
		seen[o.Operand] = true
	}
	if len(sel.Order) == 0 && sel.Length == 0 && sel.Start == 0 {
		return
	}
	for _, o := range b.ties() {
		if !seen[o] {
			b.sort(b.operand(o), nullable(o), desc)
		}
	}
}

func (b *selection) ties() []document.Operand {
	sel := b.sel
	if len(sel.Group) > 0 {
		return sel.Group
	}
	ties := []document.Operand{{Field: sel.DocType.Columns[document.ColName]}}
	for i, j := range sel.Joins {
		if j.Via.Storage == document.Rows {
			ties = append(ties, document.Operand{Join: i + 1, Field: j.Target.Columns[document.ColIdx]})
		}
	}
	return ties
}

// alias finds the output column of that key, from 1.
func (b *selection) alias(key string) (position int, null bool) {
	if key == "" {
		return 0, false
	}
	for i, c := range b.sel.Columns {
		if c.Key != key {
			continue
		}
		return i + 1, c.Func != query.Count && (c.Field == nil || c.Func != "" || nullable(c.Operand))
	}
	return 0, false
}

// nullable reports whether an operand can be null. A sort key that cannot must
// not say where null goes: no index would be used.
func nullable(o document.Operand) bool {
	if o.Join > 0 {
		return true
	}
	switch f := o.Field; {
	case !f.Storage.Nullable():
		return false
	case f.Standard:
		return f.Name != "name" && f.Name != "creation" && f.Name != "modified"
	}
	return true
}

func (b *selection) sort(q schema.QueryAppender, null, desc bool) {
	format := "?"
	if desc {
		format = "? DESC"
	}
	if null && b.s.engine.nullsClause {
		if desc {
			format += " NULLS LAST"
		} else {
			format += " NULLS FIRST"
		}
	}
	b.q.OrderExpr(format, q)
}

func (b *selection) group() {
	for _, g := range b.sel.Group {
		b.q.GroupExpr("?", b.operand(g))
	}
}

// page is the end of a list; values are arguments, so that pages share a shape.
type page struct {
	list      schema.QueryAppender
	length    param
	start     param
	unlimited string
}

// AppendQuery implements schema.QueryAppender.
func (pg page) AppendQuery(gen schema.QueryGen, dst []byte) (_ []byte, err error) {
	if dst, err = pg.list.AppendQuery(gen, dst); err != nil {
		return nil, err
	}
	switch {
	case pg.length.n > 0:
		dst, err = pg.length.AppendQuery(gen, append(dst, " LIMIT "...))
	case pg.start.n > 0:
		dst = append(append(dst, " LIMIT "...), pg.unlimited...)
	}
	if pg.start.n > 0 && err == nil {
		dst, err = pg.start.AppendQuery(gen, append(dst, " OFFSET "...))
	}
	return dst, err
}

// listStatement is the statement of a list and its arguments.
func (s *Store) listStatement(sel *document.Select) (*statement, []any, error) {
	k := s.takeKeyer()
	defer k.put()
	if err := k.list(sel); err != nil {
		return nil, nil, err
	}
	shapes := s.types.shapes(sel.DocType)
	if st, ok := shapes.lookup(k.key); ok {
		return st, k.args, nil
	}
	b := s.selection(sel)
	cells, err := b.columns()
	if err != nil {
		return nil, nil, err
	}
	b.from()
	if err := b.where(); err != nil {
		return nil, nil, err
	}
	b.group()
	b.order()
	text, err := s.text(b.paged())
	if err != nil {
		return nil, nil, err
	}
	st := &statement{text: text, dt: sel.DocType, cells: cells, list: true}
	return shapes.texts.put(string(k.key), st), k.args, nil
}

func (b *selection) paged() page {
	pg := page{list: b.q, unlimited: b.s.engine.unlimited}
	if b.sel.Length > 0 {
		pg.length = b.p.next()
	}
	if b.sel.Start > 0 {
		pg.start = b.p.next()
	}
	return pg
}

// countStatement counts the rows, or the groups, of a list.
func (s *Store) countStatement(sel *document.Select) (*statement, []any, error) {
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
	b.from()
	if err := b.where(); err != nil {
		return nil, nil, err
	}
	var q schema.QueryAppender = b.q.ColumnExpr("COUNT(*)")
	if len(sel.Group) > 0 {
		b = s.selection(sel)
		b.q.ColumnExpr("1")
		b.from()
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
	return shapes.texts.put(string(k.key), st), k.args, nil
}

// AppendRows implements document.Tx.
func (t *tx) AppendRows(ctx context.Context, dst []byte, sel *document.Select, asArrays bool) ([]byte, int, error) {
	st, args, err := t.s.listStatement(sel)
	if err != nil {
		return dst, 0, err
	}
	appendRow := appendObject
	if asArrays {
		appendRow = appendArray
	}
	out, n := dst, 0
	err = t.read(ctx, st, args, func(values []any) error {
		if n > 0 {
			out = append(out, ',')
		}
		n++
		out = appendRow(out, st.cells, values)
		return nil
	})
	if err != nil {
		return dst, 0, err
	}
	return out, n, nil
}

// Rows implements document.Tx. fn must not use the Tx.
func (t *tx) Rows(ctx context.Context, sel *document.Select, fn func(values []any) error) error {
	st, args, err := t.s.listStatement(sel)
	if err != nil {
		return err
	}
	return t.read(ctx, st, args, func(values []any) error {
		canonicalRow(st.cells, values)
		return fn(values)
	})
}

// Count implements document.Tx.
func (t *tx) Count(ctx context.Context, sel *document.Select) (n int64, err error) {
	if aggregated(sel) && len(sel.Group) == 0 {
		return 1, nil
	}
	st, args, err := t.s.countStatement(sel)
	if err != nil {
		return 0, err
	}
	err = t.read(ctx, st, args, func(values []any) error {
		n, _ = values[0].(int64)
		return nil
	})
	return n, err
}
