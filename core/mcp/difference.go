package mcp

import (
	"fmt"
	"strings"

	"armature/core/access"
	"armature/core/confirm"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
)

// Bounds of what a user is shown of a call.
const (
	shownText    = 500 // bytes of a value
	shownFields  = 60  // of a document
	shownChanges = 50
	shownRows    = 20 // of a table
)

// What a call does to a document.
const (
	didCreate = "created"
	didChange = "changed"
	didDelete = "deleted"
	didSet    = "set"
)

// shownChanges are what a rehearsal has noted, as far as its user may read it, and how
// many more there are.
func (s *Service) shownChanges(c *call, r *document.Rehearsal) (all []confirm.Change, more int) {
	person := *c.route.Caller
	person.Scopes, person.Frame = nil, nil
	touched, more := r.Touched()
	for i, t := range touched {
		if i == shownChanges {
			return all, more + len(touched) - i
		}
		all = append(all, shownChange(&person, t))
	}
	return all, more
}

func shownChange(person *identity.Caller, t document.Touched) confirm.Change {
	change := confirm.Change{DocType: t.Type.Name, Name: t.Name, Hidden: t.Hidden}
	switch {
	case t.Field != "":
		change.Did, change.Count, change.Fields = didSet, t.Count, []confirm.Field{{Name: t.Field, After: cutAt(t.Name, shownText)}}
		change.Name = ""
		return change
	case t.Before == nil:
		change.Did = didCreate
	case t.After == nil:
		change.Did, change.Modified = didDelete, t.Before.Modified()
	default:
		change.Did, change.Modified = didChange, t.Before.Modified()
	}
	if t.Hidden {
		return change
	}
	levels := access.LevelsFor(t.Type.Permissions, person, access.Read) | 1
	for i, f := range t.Type.Columns {
		if f.Standard && i != doctype.ColDocstatus || f.IsInternal() {
			continue
		}
		before, after := valueOf(t.Before, i), valueOf(t.After, i)
		if before == after {
			continue
		}
		switch {
		case !levels.Has(f.PermLevel):
			add(&change, f.Name, "(you may not see this field)", "(another value)")
			continue
		case f.IsPassword():
			before, after = secretText(before), secretText(after)
		}
		add(&change, f.Name, before, after)
	}
	for _, table := range t.Type.Tables {
		before, after := rowsText(t.Before, table.Name), rowsText(t.After, table.Name)
		if before != after && levels.Has(table.PermLevel) {
			add(&change, table.Name, before, after)
		}
	}
	return change
}

func valueOf(doc *doctype.Document, column int) string {
	if doc == nil || doc.Values()[column] == nil || column == doctype.ColDocstatus && doc.Values()[column] == int64(0) {
		return ""
	}
	return fmt.Sprint(doc.Values()[column])
}

func secretText(v string) string {
	if v == "" {
		return ""
	}
	return hidden
}

// rowsText is a table in lines, without secrets.
func rowsText(doc *doctype.Document, table string) string {
	if doc == nil {
		return ""
	}
	var lines []string
	for i, row := range doc.Rows(table) {
		if i == shownRows {
			lines = append(lines, fmt.Sprintf("and %d more", len(doc.Rows(table))-i))
			break
		}
		var values []string
		for column, f := range row.Type.Columns {
			if v := valueOf(row, column); v != "" && !f.Standard && !f.IsInternal() {
				if f.IsPassword() {
					v = hidden
				}
				values = append(values, f.Name+": "+cutAt(v, shownText))
			}
		}
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, strings.Join(values, ", ")))
	}
	return strings.Join(lines, "\n")
}

func add(change *confirm.Change, name, before, after string) {
	if len(change.Fields) >= shownFields {
		change.More++
		return
	}
	change.Fields = append(change.Fields, confirm.Field{Name: name, Before: cutShown(before), After: cutShown(after)})
}

// cutShown cuts a value, and says that it did and how much there is.
func cutShown(text string) string {
	if len(text) <= 2*shownText {
		return text
	}
	return fmt.Sprintf("%s … (%d bytes in all)", cutAt(text, 2*shownText), len(text))
}
