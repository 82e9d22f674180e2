package store

import (
	"armature/core/document"
	"armature/core/query"
)

// maxLiteral is the longest page whose length is part of its statement: the
// planner must see that few rows are wanted to keep such a plan. Each length is
// a shape of its own.
const maxLiteral = 100

// onePlan reports whether one index serves the list whatever its arguments: it
// asks for one value of an indexed field, or for everything, in the order of
// modified, from the start and not much. Such a list need not be planned anew for each run, which in
// PostgreSQL costs more than the list itself; for any other the best plan
// depends on how common the values are, and a kept one can be a thousand times
// slower.
func onePlan(sel *document.Select) bool {
	if len(sel.Joins) > 0 || len(sel.Group) > 0 || sel.Start > 0 || sel.Length <= 0 || sel.Length > maxLiteral || len(sel.Order) != 1 {
		return false
	}
	by := sel.Order[0]
	if by.Alias != "" || by.Field != sel.DocType.Columns[document.ColModified] {
		return false
	}
	for _, c := range sel.Columns {
		if c.Func != "" {
			return false
		}
	}
	if sel.Where == nil {
		return true
	}
	where := sel.Where
	if all, ok := where.(document.AllOf); ok && len(all) == 1 {
		where = all[0]
	}
	c, ok := where.(document.Compare)
	return ok && c.Op == query.Eq && c.Join == 0 && c.Field.Indexed
}
