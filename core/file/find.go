package file

import (
	"context"
	"slices"

	"armature/core/document"
	"armature/core/query"
)

// match is one field and the value it must have.
type match struct {
	field string
	value any
}

// find reads the Files that meet every condition, oldest first; limit 0 reads
// all. It asks no rights: what it finds is not shown to anybody by itself.
func (s *Service) find(ctx context.Context, tx document.Tx, limit int, conditions ...match) ([]*document.Document, error) {
	dt, err := s.doctype()
	if err != nil {
		return nil, err
	}
	var where document.AllOf
	for _, m := range conditions {
		where = append(where, equal(dt, m))
	}
	sel := &document.Select{
		DocType: dt, Where: where, Length: limit,
		Order: []document.OrderBy{
			{Operand: document.Operand{Field: dt.Columns[document.ColCreation]}},
			{Operand: document.Operand{Field: dt.Columns[document.ColName]}},
		},
	}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, document.Column{Operand: document.Operand{Field: f}, Key: f.Name})
	}
	var found []*document.Document
	err = tx.Rows(ctx, sel, func(values []any) error {
		found = append(found, document.LoadDocument(dt, slices.Clone(values)))
		return nil
	})
	return found, err
}

func equal(dt *document.DocType, m match) document.Where {
	op := document.Operand{Field: dt.Field(m.field)}
	if m.value == nil {
		return document.Compare{Operand: op, Op: query.Is, Value: false}
	}
	return document.Compare{Operand: op, Op: query.Eq, Value: m.value}
}

// exists reports whether some File meets every condition.
func (s *Service) exists(ctx context.Context, tx document.Tx, conditions ...match) (bool, error) {
	found, err := s.find(ctx, tx, 1, conditions...)
	return len(found) > 0, err
}

// check is a bool as a Check field holds it.
func check(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
