package store

import (
	"github.com/uptrace/bun"

	"armature/core/doctype"
	"armature/core/query"
)

// maxLiteral is the longest page whose length is part of its statement: the
// planner must see that few rows are wanted to keep a good plan. Each length is
// a shape of its own.
const maxLiteral = 100

// onePlan reports whether one index serves a list whatever its arguments: it
// asks for everything, or for one value of an indexed field, in the order of
// modified, from the start and not much. Such a list need not be planned anew
// for each run, which in PostgreSQL takes longer than the list itself; for any
// other the best plan depends on how common the values are, and one kept for a
// common value is a thousand times too slow for a rare one.
//
// by is the indexed field, nil for everything.
func onePlan(sel *doctype.Select) (by *doctype.Field, ok bool) {
	modified := sel.DocType.Columns[doctype.ColModified]
	if len(sel.Joins) > 0 || aggregated(sel) || sel.Start > 0 || sel.Length <= 0 || sel.Length > maxLiteral ||
		len(sel.Order) != 1 || sel.Order[0].Alias != "" || sel.Order[0].Field != modified {
		return nil, false
	}
	where := sel.Where
	if all, isAll := where.(doctype.AllOf); isAll && len(all) == 1 {
		where = all[0]
	}
	if where == nil {
		return nil, true
	}
	c, isCompare := where.(doctype.Compare)
	// An empty text matches NULL too, and then it is two values.
	if !isCompare || c.Op != query.Eq || !c.Field.Indexed || c.Field.Unique || c.Value == "" {
		return nil, false
	}
	return c.Field, true
}

// pin writes the condition and the order of a list by one value so that only
// the index on that field and modified can serve it: as a range, which does not
// tell the planner that the first sort key is constant. Left to itself it may
// walk the index on modified alone and throw away, for a rare value, every row
// of the table.
//
// Nor may it take the range for so short that sorting it is cheaper than reading it
// in order, which it does where it does not know how many rows there are. So it is
// told neither the value, which a subquery hides whatever the mode the statement is
// run in, nor that the two bounds are about the same field, which a comparison of
// rows hides: it takes each for a third of the table.
func (b *selection) pin(by *doctype.Field) {
	o := doctype.Operand{Field: by}
	modified := doctype.Operand{Field: b.sel.DocType.Columns[doctype.ColModified]}
	value := expr("(SELECT CAST(? AS ?))", b.p.next(), bun.Safe(b.s.engine.columnTypes[by.Kind]))
	b.q.Where("? >= ? AND (?, ?) <= (?, CAST('infinity' AS ?))", b.operand(o), value,
		b.operand(o), b.operand(modified), value, bun.Safe(b.s.engine.columnTypes[doctype.Datetime]))
	b.sort(b.operand(o), nullable(o), b.sel.Order[0].Desc)
	b.order()
}
