package document

import (
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// assignment puts values from outside into documents as one caller.
type assignment struct {
	s      *Service
	caller *identity.Caller
	levels access.Levels // of the fields that may be set
	status bool          // docstatus may be set, too
}

// document puts values into the document. Unknown keys, standard and internal
// fields and fields above the levels are left alone; a supplied child table replaces the
// stored one, keeping rows that come with their name. In a new document null
// leaves the default as it is.
func (a *assignment) document(doc *doctype.Document, values map[string]any, fresh bool) error {
	for key, v := range values {
		f := doc.Type.Field(key)
		if f != nil && f.IsInternal() && v != nil {
			return fault.Invalid("CannotChangeConstantError", "%s is kept by the platform and cannot be set", f.Name)
		}
		if f == nil || f.Kind == doctype.NoValue || f.IsInternal() || !a.levels.Has(f.PermLevel) || fresh && v == nil {
			continue
		}
		switch {
		case f.Standard:
			if f.Name == "docstatus" && a.status {
				n, err := doctype.CoerceInt(f, v)
				if err != nil {
					return err
				}
				doc.Put("docstatus", n)
			}
		case f.Kind == doctype.Rows:
			if err := a.rows(doc, f, v); err != nil {
				return err
			}
		case f.IsPassword() && isMask(v):
			// What a read showed comes back: the secret stays.
		default:
			if by, ok := v.(map[string]any); ok && f.Kind != doctype.JSON {
				var err error
				if v, err = increment(doc, f, by, fresh); err != nil {
					return err
				}
			}
			got, err := doctype.Coerce(f, v, a.s.zone())
			if err != nil {
				return err
			}
			if text, ok := got.(string); ok {
				if got, err = a.s.keep(doc.Type, f, text); err != nil {
					return err
				}
			}
			doc.Values()[f.Index] = got
		}
	}
	return nil
}

func isMask(v any) bool {
	s, _ := v.(string)
	return s != "" && len(s) == len("**********") && s == "**********"
}

func (a *assignment) rows(doc *doctype.Document, table *doctype.Field, v any) error {
	list, ok := v.([]any)
	if !ok && v != nil {
		return fault.Invalid("DataError", "%s must be a list of rows", table.Title())
	}
	child := a.s.Schema().DocType(table.Options)
	if child == nil {
		return fault.Missing("DocType %s not found", table.Options)
	}
	stored := make(map[string]*doctype.Document)
	for _, row := range doc.Rows(table.Name) {
		stored[row.Name()] = row
	}
	rows := make([]*doctype.Document, 0, len(list))
	for _, item := range list {
		row, err := a.row(child, stored, item)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	doc.PutRows(table.Name, rows)
	return nil
}

// row makes one row. A row that names a stored one changes it, by its name or by
// the field that rows are named by; each stored row is used once, so that a
// repeated name makes a new row.
func (a *assignment) row(child *doctype.DocType, stored map[string]*doctype.Document, item any) (*doctype.Document, error) {
	values, ok := item.(map[string]any)
	if !ok {
		return nil, fault.Invalid("DataError", "A row of %s must be an object", child.Name)
	}
	name, err := suppliedName(values["name"])
	if err != nil {
		return nil, err
	}
	row := stored[name]
	if text, ok := values[child.NamingField()].(string); row == nil && ok {
		row = stored[strings.TrimSpace(text)]
	}
	if row == nil {
		row = doctype.NewDocument(child)
		if err := a.s.nameRow(row, name); err != nil {
			return nil, err
		}
		a.s.applyDefaults(row, a.caller)
		return row, a.document(row, values, true)
	}
	delete(stored, row.Name())
	row = row.Clone()
	was := append([]any(nil), row.Values()...)
	if err := a.document(row, values, false); err != nil {
		return nil, err
	}
	if !slices.Equal(was, row.Values()) {
		row.Values()[doctype.ColModified] = nil // stamped anew
	}
	return row, nil
}

// applyDefaults fills what is empty in a new document before the values that
// were sent go in (reference, section 2.2).
func (s *Service) applyDefaults(doc *doctype.Document, caller *identity.Caller) {
	for _, f := range doc.Type.Columns {
		if f.Standard || doc.Values()[f.Index] != f.Zero() {
			continue
		}
		text := s.defaultText(f, caller)
		if text == "" {
			continue
		}
		if v, err := doctype.Coerce(f, text, s.zone()); err == nil {
			doc.Values()[f.Index] = v
		}
	}
}

// defaultText is what a field holds when nothing else is said; a Select without
// a default holds its first option.
func (s *Service) defaultText(f *doctype.Field, caller *identity.Caller) string {
	switch f.Default {
	case "":
		return f.FirstChoice()
	case "Today", "today":
		if f.Kind == doctype.Date || f.Kind == doctype.Datetime {
			return doctype.FormatDatetime(s.now())[:len(doctype.DateLayout)]
		}
	case "now", "Now":
		if f.Kind == doctype.Datetime || f.Kind == doctype.Time {
			return doctype.FormatDatetime(s.now())
		}
	case "__user":
		return caller.User
	}
	return f.Default
}
