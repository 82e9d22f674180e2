package doctor

import (
	"context"
	"fmt"
	"slices"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/store"
)

// batch is how many names one statement asks for.
const batch = 200

// shown is how many examples a message names.
const shown = 3

// rows finds rows of child tables whose document is not there.
func rows(ctx context.Context, p *Patient, find func(Finding)) error {
	return p.Store.Snapshot(ctx, func(n *store.Snapshot) error {
		for dt := range p.Schema.All {
			if !dt.Child {
				continue
			}
			parents := map[string][]string{} // names by DocType
			err := distinct(ctx, n, dt, []*doctype.Field{dt.Columns[doctype.ColParentType], dt.Columns[doctype.ColParent]}, func(v []string) {
				parents[v[0]] = append(parents[v[0]], v[1])
			})
			if err != nil {
				return err
			}
			for typeName, names := range parents {
				parent := p.Schema.DocType(typeName)
				if parent == nil {
					find(Finding{Subject: dt.Name, Message: fmt.Sprintf("rows of %d documents of %q, a DocType that does not exist", len(names), typeName)})
					continue
				}
				gone, err := absent(ctx, n, parent, names)
				if err != nil {
					return err
				}
				if len(gone) > 0 {
					find(Finding{Subject: dt.Name, Message: fmt.Sprintf("rows of %d documents of %s that do not exist: %s", len(gone), typeName, examples(gone))})
				}
			}
		}
		return nil
	})
}

// distinct hands over the different values of fields, of rows where none is empty.
func distinct(ctx context.Context, n *store.Snapshot, dt *doctype.DocType, fields []*doctype.Field, fn func([]string)) error {
	sel := &doctype.Select{DocType: dt}
	var where []doctype.Where
	for _, f := range fields {
		op := doctype.Operand{Field: f}
		sel.Columns = append(sel.Columns, doctype.Column{Operand: op, Key: f.Name})
		sel.Group = append(sel.Group, op)
		where = append(where, doctype.Compare{Operand: op, Op: query.Is, Value: true})
	}
	sel.Where = doctype.AllOf(where)
	return n.Rows(ctx, sel, func(v []any) error {
		texts := make([]string, len(v))
		for i, value := range v {
			texts[i] = fmt.Sprint(value)
			if value == nil || texts[i] == "" {
				return nil
			}
		}
		fn(texts)
		return nil
	})
}

// absent lists which documents are not there.
func absent(ctx context.Context, tx document.Tx, dt *doctype.DocType, names []string) (gone []string, err error) {
	for some := range slices.Chunk(names, batch) {
		missing, err := tx.Absent(ctx, dt, some)
		if err != nil {
			return nil, err
		}
		gone = append(gone, missing...)
	}
	return gone, nil
}

// examples names a few.
func examples(names []string) string {
	slices.Sort(names)
	text := ""
	for i, name := range names {
		if i == shown {
			return text + ", ..."
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q", name)
	}
	return text
}
