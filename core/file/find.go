package file

import (
	"context"
	"slices"

	"armature/core/doctype"
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
func (s *Service) find(ctx context.Context, tx document.Tx, limit int, conditions ...match) ([]*doctype.Document, error) {
	dt, err := s.doctype()
	if err != nil {
		return nil, err
	}
	var where doctype.AllOf
	for _, m := range conditions {
		where = append(where, equal(dt, m))
	}
	return s.findWhere(ctx, tx, dt, limit, where)
}

func (s *Service) findWhere(ctx context.Context, tx document.Tx, dt *doctype.DocType, limit int, where doctype.Where) ([]*doctype.Document, error) {
	sel := &doctype.Select{
		DocType: dt, Where: where, Length: limit,
		Order: []doctype.OrderBy{
			{Operand: doctype.Operand{Field: dt.Columns[doctype.ColCreation]}},
			{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}},
		},
	}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	var found []*doctype.Document
	err := tx.Rows(ctx, sel, func(values []any) error {
		found = append(found, doctype.LoadDocument(dt, slices.Clone(values)))
		return nil
	})
	return found, err
}

func equal(dt *doctype.DocType, m match) doctype.Where {
	op := doctype.Operand{Field: dt.Field(m.field)}
	if m.value == nil {
		return doctype.Compare{Operand: op, Op: query.Is, Value: false}
	}
	return doctype.Compare{Operand: op, Op: query.Eq, Value: m.value}
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
