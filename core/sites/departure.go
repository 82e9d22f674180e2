package sites

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
)

// departure is the hooks of what goes with a user who is deleted (reference
// section 11): the ToDos allocated to them, and what was shared with them.
type departure struct {
	documents func() *document.Service
	guests    document.Hooks // of plugins; nil: none
}

// goes is what goes with a user, and the field that names the user.
var goes = []struct{ doctype, field string }{{"ToDo", "allocated_to"}, {"DocShare", "user"}}

func (departure) Handles(doctype string) bool { return doctype == "User" }

// Guest says whether plugins may hear of what is deleted along.
func (l departure) RunsPlugins(string) bool {
	if l.guests == nil {
		return false
	}
	for _, g := range goes {
		if l.guests.Handles(g.doctype) && l.guests.RunsPlugins(g.doctype) {
			return true
		}
	}
	return false
}

func (l departure) Run(ctx context.Context, ev *document.Event) error {
	if ev.Name != document.OnTrash {
		return nil
	}
	for _, g := range goes {
		dt := l.documents().Schema().DocType(g.doctype)
		if dt == nil || dt.Field(g.field) == nil {
			continue // a site may do without ToDos
		}
		name := doctype.Operand{Field: dt.Field("name")}
		sel := &doctype.Select{
			DocType: dt,
			Columns: []doctype.Column{{Operand: name, Key: "name"}},
			Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field(g.field)}, Op: query.Eq, Value: ev.Doc.Name()},
			Order:   []doctype.OrderBy{{Operand: name}},
		}
		var names []string
		err := ev.Tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			names = append(names, name)
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			// Whoever may delete the user need not be let at the ToDos of others.
			if err := l.documents().As(identity.Root(), ev.Tx).Delete(ctx, g.doctype, name); err != nil {
				return err
			}
		}
	}
	return nil
}
