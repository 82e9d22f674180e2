package document

import (
	"context"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
)

// Rows are named as documents are, by the rule of their DocType; where there is
// none, or "hash", by HashName.

// nameRow names a new row as soon as it is made where its values do not count:
// hooks refer to rows by their names. Others are named by nameRows.
func (s *Service) nameRow(row *doctype.Document, supplied string) error {
	rule := row.Type.Autoname
	name := ""
	switch {
	case row.Type.Counts(), row.Type.NamingField() != "", strings.HasPrefix(rule, "format:"):
		return nil
	case strings.EqualFold(rule, "uuid"):
		var err error
		if name, err = nameUUID(supplied); err != nil {
			return err
		}
	case strings.EqualFold(rule, "prompt"):
		name = strings.TrimSpace(supplied)
		if err := checkName(row.Type, name); err != nil {
			return err
		}
	default:
		name = HashName(s.now())
	}
	row.Put("name", name)
	return nil
}

// nameRows names the rows that their values or a counter name, after every hook
// that may change those, and holds the field that names stored ones to the name.
func (s *Service) nameRows(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	for _, t := range doc.Type.Tables {
		stored, taken := rowsByName(before, t), map[string]bool{}
		for i, row := range doc.Rows(t.Name) {
			if row.Name() == "" {
				if err := s.name(ctx, tx, row, ""); err != nil {
					return inRow(i, err)
				}
			}
			if taken[row.Name()] {
				return fault.New(fault.Conflict, "DuplicateEntryError", "Row #%d: %s %s already exists", i+1, row.Type.Name, row.Name())
			}
			taken[row.Name()] = true
			if err := keepNamingField(row, stored[row.Name()]); err != nil {
				return inRow(i, err)
			}
		}
	}
	return nil
}

// inRow says which row a refusal is about.
func inRow(i int, err error) error {
	f := fault.From(err)
	if f.Kind != fault.Validation && f.Kind != fault.Conflict {
		return err
	}
	return fault.New(f.Kind, f.Type, "Row #%d: %s", i+1, f.Message)
}
