package access

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// Nested is the rows of one child table, shown as an array in each row.
type Nested struct {
	At     int            // before which output column
	Table  *doctype.Field // of the listed DocType
	Fields []*doctype.Field

	of    *doctype.DocType // the listed one
	child *doctype.DocType
}

// nest resolves the rows of a child table; one the caller may not read is left
// out, and so are fields above the caller's levels.
func (l *List) nest(qf query.Field) error {
	table := l.dt.Field(qf.Ref.Name)
	if table == nil || table.Kind != doctype.Rows {
		return notPermitted(qf.Ref)
	}
	child := l.of.Schema.DocType(table.Options)
	if child == nil {
		return notPermitted(qf.Ref)
	}
	n := Nested{At: len(l.Select.Columns), Table: table, of: l.dt, child: child}
	shows := func(f *doctype.Field) bool {
		return l.own.Levels.Has(f.PermLevel) && !f.IsPassword() && !f.IsInternal()
	}
	if qf.Nested.Star {
		for _, f := range child.Columns {
			if shows(f) {
				n.Fields = append(n.Fields, f)
			}
		}
	}
	for _, name := range qf.Nested.Fields {
		f := Asked(child, name)
		if f == nil || f.IsPassword() {
			return notPermitted(query.Ref{Table: table.Name, Name: name})
		}
		if shows(f) && !slices.Contains(n.Fields, f) {
			n.Fields = append(n.Fields, f)
		}
	}
	if l.own.Shows(table) {
		l.Nested = append(l.Nested, n)
	}
	return nil
}

// Rows selects the rows of the documents of those names, in their order: the
// document's name before the fields.
func (n *Nested) Rows(names []any) *doctype.Select {
	parent := doctype.Operand{Field: n.child.Columns[doctype.ColParent]}
	sel := &doctype.Select{
		DocType: n.child,
		Columns: []doctype.Column{{Operand: parent, Key: "parent"}},
		Where: doctype.AllOf{
			doctype.Compare{Operand: parent, Op: query.In, Value: names},
			comparison(n.child.Columns[doctype.ColParentType], query.Eq, n.of.Name),
			comparison(n.child.Columns[doctype.ColParentField], query.Eq, n.Table.Name),
		},
		Order: []doctype.OrderBy{{Operand: parent}, {Operand: doctype.Operand{Field: n.child.Columns[doctype.ColIdx]}}},
	}
	for _, f := range n.Fields {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	return sel
}
