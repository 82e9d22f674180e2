package document

import (
	"context"

	"armature/core/doctype"
)

// Quota is what a site may keep. Service asks it of what callers write, and of
// nothing that the platform writes down by itself, such as sessions and versions.
type Quota interface {
	// Grow admits documents of a DocType and about so many bytes, which the
	// transaction is about to write; its error ends the write. Either may be 0.
	Grow(ctx context.Context, tx Tx, typeName string, documents, bytes int) error
	// Shrink notes that a document is deleted in the transaction.
	Shrink(tx Tx, typeName string)
	// Full reports whether the site's database may not grow any more. A deletion
	// then leaves no copy behind, so that it makes room.
	Full(ctx context.Context) (bool, error)
}

// unlimited is the quota of a site that has none.
type unlimited struct{}

func (unlimited) Grow(context.Context, Tx, string, int, int) error { return nil }
func (unlimited) Shrink(Tx, string)                                {}
func (unlimited) Full(context.Context) (bool, error)               { return false, nil }

// grow asks the quota for what a write adds. A write that makes a document smaller,
// or no larger, is always admitted.
func (s *Service) grow(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	if before == nil {
		return s.quota.Grow(ctx, tx, doc.Type.Name, 1, sizeOf(doc))
	}
	if more := sizeOf(doc) - sizeOf(before); more > 0 {
		return s.quota.Grow(ctx, tx, doc.Type.Name, 0, more)
	}
	return nil
}
