package auth

import (
	"context"

	"armature/core/document"
	"armature/core/query"
)

// insert stores a document of the platform's own; user is who it was done for.
func (s *Service) insert(ctx context.Context, tx document.Tx, dt *document.DocType, name, user string, values map[string]any) error {
	doc := document.NewDocument(dt)
	now := document.FormatDatetime(s.now())
	for field, value := range map[string]any{"name": name, "owner": user, "modified_by": user, "creation": now, "modified": now} {
		doc.Put(field, value)
	}
	for field, value := range values {
		doc.Put(field, value)
	}
	return tx.Insert(ctx, doc)
}

func equals(dt *document.DocType, field string, value any) document.Where {
	return document.Compare{Operand: document.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: value}
}
