package document

import (
	"context"
	"strings"

	"armature/core/doctype"
	"armature/core/query"
)

// fetch refills the fields that copy a value of a linked document (fetch_from
// "link_field.field"), in the document and in its rows. It reads without regard
// to the caller's rights: the DocType says what is copied, not the caller.
func (s *Service) fetch(ctx context.Context, tx Tx, doc *doctype.Document) error {
	for _, f := range doc.Type.Fetches {
		if err := s.fetchField(ctx, tx, doc, f); err != nil {
			return err
		}
	}
	for _, row := range RowsOf(doc) {
		if err := s.fetch(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) fetchField(ctx context.Context, tx Tx, doc *doctype.Document, f *doctype.Field) error {
	via, source, _ := strings.Cut(f.FetchFrom, ".")
	link := doc.Type.Field(via)
	if link == nil || !link.IsLink() {
		return nil
	}
	if current := doc.Values()[f.Index]; f.FetchIfEmpty && current != nil && current != "" {
		return nil
	}
	name, _ := doc.Values()[link.Index].(string)
	if name == "" {
		if !f.FetchIfEmpty {
			doc.Values()[f.Index] = f.Zero()
		}
		return nil
	}
	target := s.Schema().DocType(link.Options)
	if target == nil {
		return nil
	}
	from := target.Field(source)
	if from == nil || from.Index < 0 || from.IsPassword() || from.IsInternal() {
		return nil
	}
	sel := &doctype.Select{
		DocType: target,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: from}, Key: source}},
		Where:   doctype.Compare{Operand: doctype.Operand{Field: target.Columns[doctype.ColName]}, Op: query.Eq, Value: name},
		Length:  1,
	}
	return tx.Rows(ctx, sel, func(values []any) error {
		v, err := doctype.Coerce(f, values[0], s.zone())
		if err == nil {
			doc.Values()[f.Index] = v
		}
		return err
	})
}
