package auth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
)

// Cascade is the hooks that delete with a user what was theirs alone (reference
// section 11): the ToDos allocated to them, and what was shared with them. guests
// are the hooks of plugins, which may hear of that; nil: there are none.
func Cascade(documents func() *document.Service, guests document.Hooks) document.Hooks {
	return cascade{documents, guests}
}

type cascade struct {
	documents func() *document.Service
	guests    document.Hooks
}

// cascaded is what goes with a user, and the field that names the user.
var cascaded = []struct{ doctype, field string }{{"ToDo", "allocated_to"}, {"DocShare", "user"}}

func (cascade) Handles(typeName string) bool { return typeName == "User" }

// RunsPlugins says whether plugins may hear of what is deleted along.
func (c cascade) RunsPlugins(string) bool {
	if c.guests == nil {
		return false
	}
	for _, g := range cascaded {
		if c.guests.Handles(g.doctype) && c.guests.RunsPlugins(g.doctype) {
			return true
		}
	}
	return false
}

func (c cascade) Run(ctx context.Context, ev *document.Event) error {
	if ev.Name != document.OnTrash {
		return nil
	}
	for _, g := range cascaded {
		dt := c.documents().Schema().DocType(g.doctype)
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
			if err := c.documents().As(identity.Root(), ev.Tx).Delete(ctx, g.doctype, name); err != nil {
				return err
			}
		}
	}
	return nil
}
