package doctype

import (
	"strconv"

	"armature/core/fault"
)

// CheckRules applies the reference's rules for permission rows.
func (dt *DocType) CheckRules() error {
	type slot struct {
		role      string
		level     int
		ifOwner   bool
		condition string
	}
	seen := map[slot]bool{}
	ground := map[string]bool{}
	for _, r := range dt.Permissions {
		if r.Level == 0 {
			ground[r.Role] = true
		}
	}
	for _, r := range dt.Permissions {
		key := slot{r.Role, r.Level, r.IfOwner, r.Text}
		bad := ""
		switch {
		case r.Broken != nil:
			bad = "has a condition that cannot be read: " + fault.From(r.Broken).Message
		case seen[key]:
			bad = "appears twice"
		case r.Level > 0 && !ground[r.Role]:
			bad = "has a level above 0 without a row of level 0"
		case r.Rights&CancelRight != 0 && r.Rights&SubmitRight == 0:
			bad = "cannot have cancel without submit"
		case r.Rights&(SubmitRight|CancelRight|AmendRight) != 0 && r.Rights&WriteRight == 0:
			bad = "cannot have submit, cancel or amend without write"
		case r.Rights&(ImportRight|AmendRight) != 0 && r.Rights&CreateRight == 0:
			bad = "cannot have import or amend without create"
		case r.Rights&SubmitRight != 0 && !dt.Submittable:
			bad = "cannot have submit: the DocType is not submittable"
		}
		if bad != "" {
			return fault.Invalid("", "%s: the permission row of %s %s", dt.Name, r.Role, bad)
		}
		seen[key] = true
	}
	return nil
}

// CheckTargets makes sure that links and tables point at DocTypes of the right
// kind.
func (dt *DocType) CheckTargets(sc *Schema) error {
	for _, f := range dt.Fields {
		if !f.typ().Options.target {
			continue
		}
		target := sc.DocType(f.Options)
		if f.Options == dt.Name {
			target = dt
		}
		switch {
		case target == nil:
			return fault.Invalid("WrongOptionsDoctypeLinkError", "%s: options of %s must be a DocType; %s is none", dt.Name, f.Name, f.Options)
		case f.Kind == Rows && !target.Child:
			return fault.Invalid("WrongOptionsDoctypeLinkError", "%s: %s needs a child table; %s is none", dt.Name, f.Name, f.Options)
		case f.Kind == Rows && dt.Child:
			return fault.Invalid("", "%s: a child table cannot have a table of its own: %s", dt.Name, f.Name)
		}
	}
	return nil
}

// CheckNames makes sure that what names a field of the DocType names one that
// documents store.
func (dt *DocType) CheckNames(doc *Document) error {
	named := map[string][]string{
		"title_field": {dt.TitleField}, "sort_field": {dt.SortField}, "autoname": {dt.NamingField()},
		"image_field": {doc.Text("image_field")}, "subject_field": {doc.Text("subject_field")},
		"search_fields": dt.Search,
	}
	for _, f := range dt.Fields {
		if f.typ().Options.field {
			named["options of "+f.Name] = []string{f.Options}
		}
	}
	for what, names := range named {
		for _, name := range names {
			if f := dt.Field(name); name != "" && (f == nil || f.Index < 0) {
				return fault.Invalid("", "%s: %s names a field that does not exist: %s", dt.Name, what, name)
			}
		}
	}
	return nil
}

// FreeTable is a table name that no DocType uses and none of others has left.
func FreeTable(sc *Schema, base string, others map[string]bool) string {
	taken := func(name string) bool {
		if others[name] {
			return true
		}
		for dt := range sc.All {
			if dt.Table == name {
				return true
			}
		}
		return false
	}
	name := base
	for n := 2; taken(name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}
