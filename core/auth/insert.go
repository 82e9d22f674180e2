package auth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// insert stores a document of the platform's own; user is who it was done for.
func (s *Service) insert(ctx context.Context, tx document.Tx, dt *doctype.DocType, name, user string, values map[string]any) error {
	doc := doctype.NewDocument(dt)
	now := doctype.FormatDatetime(s.now())
	for field, value := range map[string]any{"name": name, "owner": user, "modified_by": user, "creation": now, "modified": now} {
		doc.Put(field, value)
	}
	for field, value := range values {
		doc.Put(field, value)
	}
	return tx.Insert(ctx, doc)
}

func equals(dt *doctype.DocType, field string, value any) doctype.Where {
	return doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: value}
}
