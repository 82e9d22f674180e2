package document

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// nested is the rows of one child table, shown as an array in each row.
type nested struct {
	at     int            // before which output column
	table  *doctype.Field // of the listed DocType
	child  *doctype.DocType
	fields []*doctype.Field
}

// nest resolves the rows of a child table; one the caller may not read is left
// out, and so are fields above the caller's levels.
func (r *resolver) nest(qf query.Field) error {
	table := r.dt.Field(qf.Ref.Name)
	if table == nil || table.Kind != doctype.Rows {
		return notPermitted(qf.Ref)
	}
	child := r.schema.DocType(table.Options)
	if child == nil {
		return notPermitted(qf.Ref)
	}
	n := nested{at: len(r.sel.Columns), table: table, child: child}
	shows := func(f *doctype.Field) bool {
		return r.own.levels.Has(f.PermLevel) && !f.IsPassword() && !f.IsInternal()
	}
	if qf.Nested.Star {
		for _, f := range child.Columns {
			if shows(f) {
				n.fields = append(n.fields, f)
			}
		}
	}
	for _, name := range qf.Nested.Fields {
		f := asked(child, name)
		if f == nil || f.IsPassword() {
			return notPermitted(query.Ref{Table: table.Name, Name: name})
		}
		if shows(f) && !slices.Contains(n.fields, f) {
			n.fields = append(n.fields, f)
		}
	}
	if r.own.shows(table) {
		r.nested = append(r.nested, n)
	}
	return nil
}

// read reads the rows of the documents of those names: one query, and for each
// document the JSON of an array without its brackets.
func (n *nested) read(r *resolver, names []any) (map[string][]byte, error) {
	arrays := make(map[string][]byte, len(names))
	if len(names) == 0 {
		return arrays, nil
	}
	parent := doctype.Operand{Field: n.child.Columns[doctype.ColParent]}
	sel := &doctype.Select{
		DocType: n.child,
		Columns: []doctype.Column{{Operand: parent, Key: "parent"}},
		Where: doctype.AllOf{
			doctype.Compare{Operand: parent, Op: query.In, Value: names},
			comparison(n.child.Columns[doctype.ColParentType], query.Eq, r.dt.Name),
			comparison(n.child.Columns[doctype.ColParentField], query.Eq, n.table.Name),
		},
		Order: []doctype.OrderBy{{Operand: parent}, {Operand: doctype.Operand{Field: n.child.Columns[doctype.ColIdx]}}},
	}
	for _, f := range n.fields {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	err := r.tx.Rows(r.ctx, sel, func(values []any) error {
		name, _ := values[0].(string)
		array := arrays[name]
		if len(array) > 0 {
			array = append(array, ',')
		}
		array = append(array, '{')
		for i, f := range n.fields {
			if i > 0 {
				array = append(array, ',')
			}
			array = doctype.AppendValue(f.AppendKey(array), f, values[i+1])
		}
		arrays[name] = append(array, '}')
		return nil
	})
	return arrays, err
}
