package store

import (
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// selection builds the SQL of one list.
type selection struct {
	s   *Store
	sel *doctype.Select
	p   *params
	q   *bun.SelectQuery

	how   way
	named bool // columns are named with their table: there are several
}

func (s *Store) selection(sel *doctype.Select) *selection {
	return &selection{s: s, sel: sel, p: s.engine.params(), q: s.bun.NewSelect(),
		named: len(sel.Joins) > 0 || asksRows(sel.Where)}
}

// operand names a column; the table is named only where there are several.
func (b *selection) operand(o doctype.Operand) schema.QueryAppender {
	column := bun.Name(o.Field.Column)
	if !b.named {
		return column
	}
	return expr("?.?", tableAlias(o.Join), column)
}

func tableAlias(join int) bun.Name { return bun.Name(fmt.Sprintf("t%d", join)) }

// from writes the tables: a link brings at most one row, a child table all of
// the document's in that field.
func (b *selection) from() error {
	sel := b.sel
	if !b.named {
		b.q.TableExpr("?", bun.Name(sel.DocType.Table))
		return nil
	}
	base := tableAlias(0)
	b.q.TableExpr("? AS ?", bun.Name(sel.DocType.Table), base)
	for i, j := range sel.Joins {
		target := tableAlias(i + 1)
		on := &joined{sep: " AND "}
		if j.Via.Kind == doctype.Rows {
			on.add("?.? = ?.?", target, bun.Name("parent"), base, bun.Name("name"))
			on.add("?.? = ?", target, bun.Name("parenttype"), b.p.next())
			on.add("?.? = ?", target, bun.Name("parentfield"), b.p.next())
		} else {
			on.add("?.? = ?.?", target, bun.Name("name"), base, bun.Name(j.Via.Column))
		}
		seen, err := b.filter(j.On)
		if err != nil {
			return err
		}
		if seen != nil {
			on.add("?", seen)
		}
		b.q.Join("LEFT JOIN ? AS ? ON ?", bun.Name(j.Target.Table), target, on)
	}
	return nil
}

// filter is the SQL of a filter; nil when there is none.
func (b *selection) filter(f doctype.Where) (schema.QueryAppender, error) {
	w := &whereBuilder{e: &b.s.engine, p: b.p, how: b.how, operand: b.operand}
	err := b.s.engine.walkWhere(f, w)
	return w.out, err
}

func (b *selection) where() error {
	w, err := b.filter(b.sel.Where)
	if w != nil {
		b.q.Where("?", w)
	}
	return err
}

// aggregated reports whether rows of the table are folded.
func aggregated(sel *doctype.Select) bool {
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
func (b *selection) column(c doctype.Column) (schema.QueryAppender, error) {
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
	kind := c.Field.Kind
	number := !kind.Nullable()
	switch {
	case c.Func == query.Count:
		return expr("COUNT(?)", operand), nil
	case c.Field.Numbered && (c.Func == query.Min || c.Func == query.Max):
		return extreme(string(c.Func), operand), nil
	case c.Func == query.Min:
		return expr("MIN(?)", operand), nil
	case c.Func == query.Max:
		return expr("MAX(?)", operand), nil
	case c.Func == query.Avg && number:
		return expr(b.s.engine.avg, operand), nil
	case c.Func == query.Sum && kind == doctype.Float:
		return expr("SUM(?)", operand), nil
	case c.Func == query.Sum && number:
		return expr(b.s.engine.sumInt, operand), nil
	}
	return nil, fault.Invalid("DataError", "%s cannot be taken of %s", c.Func, c.Field.Name)
}

// folded is an operand, or inside a group that it does not name, one value of
// it.
func (b *selection) folded(o doctype.Operand, fold string) schema.QueryAppender {
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
		cells[i].key = append(doctype.AppendString(nil, c.Key), ':')
		switch c.Func {
		case "", query.Min, query.Max:
			cells[i].field = c.Field
		}
	}
	return cells, nil
}

func (b *selection) group() {
	for _, g := range b.sel.Group {
		b.q.GroupExpr("?", b.operand(g))
	}
}
