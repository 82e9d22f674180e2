package doctypes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Step is what becomes of one DocType.
type Step struct {
	DocType string   `json:"doctype"`
	Action  string   `json:"action"` // create, change or keep
	Added   []string `json:"added,omitempty"`
	Changed []Change `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"` // fields; their data stays
	Roles   []string `json:"roles,omitempty"`   // that its permissions name and that are to be made
}

// The actions.
const (
	Create = "create"
	Alter  = "change"
	Keep   = "keep"
)

// Change is one value that becomes another.
type Change struct {
	What string `json:"what"` // a property, or a field and its property
	From any    `json:"from"`
	To   any    `json:"to"`
}

// Plan says what installing the DocTypes would change. It writes nothing. The
// error is a fault: Conflict for a DocType that is not the plugin's.
func Plan(ctx context.Context, tx document.Tx, documents *document.Service, all []*DocType) ([]Step, error) {
	steps := make([]Step, 0, len(all))
	planned := map[string]bool{} // roles
	for _, dt := range all {
		s, err := dt.plan(ctx, tx, documents)
		if err != nil {
			return nil, err
		}
		if s.Roles, err = dt.missingRoles(ctx, tx, documents, planned); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (dt *DocType) plan(ctx context.Context, tx document.Tx, documents *document.Service) (Step, error) {
	s := Step{DocType: dt.Name, Action: Create}
	known := documents.Schema().DocType(dt.Name)
	if known == nil {
		for _, f := range dt.fields {
			s.Added = append(s.Added, fieldname(f))
		}
		return s, nil
	}
	if !known.Custom || known.Module != dt.plugin {
		return s, fault.New(fault.Conflict, "", "The DocType %s belongs to %s: %s may not redefine it", dt.Name, known.Module, dt.plugin)
	}
	stored, err := documents.As(identity.Root(), tx).Get(ctx, doctype.DocTypeName, dt.Name)
	if err != nil {
		return s, err
	}
	for key, v := range dt.values {
		if f := stored.Type.Field(key); f != nil && f.Index >= 0 && !f.Standard {
			s.compare(key, f, v, stored)
		}
	}
	dt.compareFields(&s, documents.Schema(), stored)
	dt.compareRules(&s, documents.Schema(), stored)
	slices.SortFunc(s.Changed, func(a, b Change) int {
		switch {
		case a.What < b.What:
			return -1
		case a.What > b.What:
			return 1
		}
		return 0
	})
	s.Action = Keep
	if len(s.Added)+len(s.Changed)+len(s.Removed) > 0 {
		s.Action = Alter
	}
	return s, nil
}

// compare notes a property that differs from what is stored.
func (s *Step) compare(what string, f *doctype.Field, v any, stored *doctype.Document) {
	to, err := doctype.Coerce(f, v, time.UTC)
	if from := stored.Get(f.Name); err != nil || from != to && !(blank(from) && blank(to)) {
		s.Changed = append(s.Changed, Change{what, from, to})
	}
}

func blank(v any) bool { return v == nil || v == "" || v == int64(0) }

func (dt *DocType) compareFields(s *Step, schema *doctype.Schema, stored *doctype.Document) {
	row := schema.DocType(doctype.DocFieldName)
	known := map[string]*doctype.Document{}
	for _, r := range stored.Rows("fields") {
		known[r.Text("fieldname")] = r
	}
	for _, f := range dt.fields {
		name := fieldname(f)
		r := known[name]
		if r == nil {
			s.Added = append(s.Added, name)
			continue
		}
		delete(known, name)
		s.compareRow(name+".", row, f, r, "fieldname", "column_name", "label")
		if label, given := f["label"]; given {
			s.compare(name+".label", row.Field("label"), label, r)
		}
	}
	for _, r := range stored.Rows("fields") {
		if name := r.Text("fieldname"); known[name] != nil && !dt.brings(name) {
			s.Removed = append(s.Removed, name)
		}
	}
}

// brings reports whether the platform adds the field by itself.
func (dt *DocType) brings(name string) bool {
	return name == "amended_from" || name == "is_group" || name == doctype.ParentField(dt.Name)
}

// compareRow compares every property of a row; one that is not given has its
// default.
func (s *Step) compareRow(prefix string, row *doctype.DocType, given map[string]any, stored *doctype.Document, but ...string) {
	for _, f := range row.Columns {
		if f.Standard || slices.Contains(but, f.Name) {
			continue
		}
		v, ok := given[f.Name]
		if !ok && f.Default != "" {
			v = f.Default
		}
		s.compare(prefix+f.Name, f, v, stored)
	}
}

func (dt *DocType) compareRules(s *Step, schema *doctype.Schema, stored *doctype.Document) {
	if _, given := dt.values["permissions"]; !given {
		return
	}
	row := schema.DocType(doctype.DocPermName)
	have := stored.Rows("permissions")
	if len(have) != len(dt.rules) {
		s.Changed = append(s.Changed, Change{"permissions", len(have), len(dt.rules)})
		return
	}
	for i, rule := range dt.rules {
		s.compareRow(fmt.Sprintf("permissions[%d].", i), row, rule, have[i])
	}
}

func fieldname(f map[string]any) string {
	for _, key := range []string{"fieldname", "label", "fieldtype"} {
		if name, _ := f[key].(string); name != "" {
			return name
		}
	}
	return ""
}
