package store

import (
	"fmt"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/query"
)

// order writes the sort keys and, so that pages do not overlap, what makes them
// total: the name, or for groups the whole key of the group.
func (b *selection) order() {
	sel := b.sel
	folded := aggregated(sel)
	if folded && len(sel.Group) == 0 {
		return // one row
	}
	desc := false
	seen := map[doctype.Operand]bool{}
	for _, o := range sel.Order {
		desc = o.Desc
		if position, nullable := b.alias(o.Alias); position > 0 {
			if c := b.sel.Columns[position-1]; c.Func == "" && c.Field.Numbered {
				b.sortNumber(c.Operand, o.Desc)
				continue
			}
			b.sort(expr("?", bun.Safe(fmt.Sprint(position))), nullable, o.Desc)
			continue
		}
		if o.Field == nil {
			continue
		}
		if b.how == seeking {
			// Not as an index has it: the few that are found are sorted.
			b.sort(expr(b.s.engine.unsorted, b.operand(o.Operand)), nullable(o.Operand), o.Desc)
		} else if o.Field.Numbered {
			b.sortNumber(o.Operand, o.Desc)
		} else {
			b.sort(b.folded(o.Operand, extremeOf(o.Desc)+"(?)"), nullable(o.Operand), o.Desc)
		}
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

// extremeOf is the value of a group that it is sorted by.
func extremeOf(desc bool) string {
	if desc {
		return "MAX"
	}
	return "MIN"
}

func (b *selection) sortNumber(o doctype.Operand, desc bool) {
	if q := b.folded(o, extremeOf(desc)+"(CAST(? AS bigint))"); aggregated(b.sel) {
		b.sort(q, nullable(o), desc)
		return
	}
	operand := b.operand(o)
	b.sort(expr("LENGTH(?)", operand), nullable(o), desc)
	b.sort(operand, nullable(o), desc)
}

func (b *selection) ties() []doctype.Operand {
	sel := b.sel
	if len(sel.Group) > 0 {
		return sel.Group
	}
	ties := []doctype.Operand{{Field: sel.DocType.Columns[doctype.ColName]}}
	for i, j := range sel.Joins {
		if j.Via.Kind == doctype.Rows {
			ties = append(ties, doctype.Operand{Join: i + 1, Field: j.Target.Columns[doctype.ColIdx]})
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
func nullable(o doctype.Operand) bool {
	if o.Join > 0 {
		return true
	}
	switch f := o.Field; {
	case !f.Kind.Nullable():
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

// page is the end of a list; values are arguments, so that pages share a shape.
type page struct {
	list      schema.QueryAppender
	length    param // of an argument, or
	literal   int   // the length itself, where the plan depends on it
	start     param
	unlimited string
}

// AppendQuery implements schema.QueryAppender.
func (pg page) AppendQuery(gen schema.QueryGen, dst []byte) (_ []byte, err error) {
	if dst, err = pg.list.AppendQuery(gen, dst); err != nil {
		return nil, err
	}
	switch {
	case pg.literal > 0:
		dst = strconv.AppendInt(append(dst, " LIMIT "...), int64(pg.literal), 10)
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

func (b *selection) paged() page {
	pg := page{list: b.q, unlimited: b.s.engine.unlimited}
	switch _, planned := onePlan(b.sel); {
	case planned, b.how != plainly:
		pg.literal = b.sel.Length
	case b.sel.Length > 0:
		pg.length = b.p.next()
	}
	if b.sel.Start > 0 {
		pg.start = b.p.next()
	}
	return pg
}
