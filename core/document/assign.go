package document

import (
	"slices"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
)

// assign puts the client's values into the document. Unknown keys, standard
// fields and fields above the caller's levels are left alone; a supplied child
// table replaces the stored one, keeping rows that come with their name.
func (s *Service) assign(doc *Document, values map[string]any, levels permission.Levels) error {
	for key, v := range values {
		f := doc.Type.Field(key)
		if f == nil || f.Storage == NoStorage || !levels.Has(f.PermLevel) {
			continue
		}
		switch {
		case f.Standard:
			if f.Name == "docstatus" {
				n, err := coerceInt(f, v)
				if err != nil {
					return err
				}
				doc.Put("docstatus", n)
			}
		case f.Storage == Rows:
			if err := s.assignRows(doc, f, v, levels); err != nil {
				return err
			}
		case f.IsPassword() && isMask(v):
			// What a read showed comes back: the secret stays.
		default:
			got, err := Coerce(f, v, s.zone())
			if err != nil {
				return err
			}
			if text, ok := got.(string); ok {
				got = sanitize(f, text)
			}
			doc.values[f.Index] = got
		}
	}
	return nil
}

func isMask(v any) bool {
	s, _ := v.(string)
	return s != "" && len(s) == len("**********") && s == "**********"
}

func (s *Service) assignRows(doc *Document, table *Field, v any, levels permission.Levels) error {
	list, ok := v.([]any)
	if !ok && v != nil {
		return fault.Invalid("DataError", "%s must be a list of rows", table.label())
	}
	child := s.Schema().DocType(table.Options)
	if child == nil {
		return fault.Missing("DocType %s not found", table.Options)
	}
	stored := make(map[string]*Document)
	for _, row := range doc.Rows(table.Name) {
		stored[row.Name()] = row
	}
	rows := make([]*Document, 0, len(list))
	for _, item := range list {
		row, err := s.assignRow(doc, child, stored, item, levels)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	doc.PutRows(table.Name, rows)
	return nil
}

// assignRow makes one row. A row that names a stored one changes it; each
// stored row is used once, so that a repeated name makes a new row.
func (s *Service) assignRow(doc *Document, child *DocType, stored map[string]*Document, item any, levels permission.Levels) (*Document, error) {
	values, ok := item.(map[string]any)
	if !ok {
		return nil, fault.Invalid("DataError", "A row of %s must be an object", child.Name)
	}
	name, _ := values["name"].(string)
	row := stored[name]
	delete(stored, name)
	if row == nil {
		row = NewDocument(child)
		row.Put("name", HashName(s.now()))
	} else {
		row = row.Clone()
	}
	was := append([]any(nil), row.values...)
	if err := s.assign(row, values, levels); err != nil {
		return nil, err
	}
	if !slices.Equal(was, row.values) {
		row.values[ColModified] = nil // stamped anew
	}
	return row, nil
}

// applyDefaults fills what the client left out (reference, section 2.2).
func (s *Service) applyDefaults(doc *Document, caller *identity.Caller) {
	for _, f := range doc.Type.Columns {
		if f.Standard || f.Default == "" || doc.values[f.Index] != zero(f) {
			continue
		}
		if v, err := Coerce(f, s.defaultText(f, caller), s.zone()); err == nil {
			doc.values[f.Index] = v
		}
	}
	for _, t := range doc.Type.Tables {
		for _, row := range doc.Rows(t.Name) {
			s.applyDefaults(row, caller)
		}
	}
}

func (s *Service) defaultText(f *Field, caller *identity.Caller) string {
	switch f.Default {
	case "Today", "today":
		if f.Storage == Date || f.Storage == Datetime {
			return FormatDatetime(s.now())[:len(DateLayout)]
		}
	case "now", "Now":
		if f.Storage == Datetime || f.Storage == Time {
			return FormatDatetime(s.now())
		}
	case "__user":
		return caller.User
	}
	return f.Default
}
