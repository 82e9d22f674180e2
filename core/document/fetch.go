package document

import (
	"context"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// fetch refills the fields that copy a value of a linked document (fetch_from
// "link_field.field"), in the document and in its rows. It reads with the
// caller's rights: what the caller could not read through the link is not
// copied. Such a field keeps what it held as long as the link stays what it was,
// so that a change by somebody with fewer rights loses nothing and forges
// nothing, and is empty once the link has changed.
func (s *Service) fetch(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	for _, f := range doc.Type.Fetches {
		if err := s.fetchField(ctx, tx, caller, doc, before, f); err != nil {
			return err
		}
	}
	if len(doc.Type.Tables) == 0 {
		return nil
	}
	stored := make(map[string]*doctype.Document)
	if before != nil {
		for _, row := range RowsOf(before) {
			stored[row.Type.Name+"/"+row.Name()] = row
		}
	}
	for _, row := range RowsOf(doc) {
		if err := s.fetch(ctx, tx, caller, row, stored[row.Type.Name+"/"+row.Name()]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) fetchField(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document, f *doctype.Field) error {
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
	from := access.Asked(target, source)
	if from == nil || from.IsPassword() {
		return nil
	}
	read, err := s.fetchFrom(ctx, tx, caller, target, name, from, func(v any) (err error) {
		doc.Values()[f.Index], err = doctype.Coerce(f, v, s.zone())
		return err
	})
	switch {
	case read || err != nil || f.FetchIfEmpty:
	case before != nil && before.TextAt(link.Index) == name:
		doc.Values()[f.Index] = before.Values()[f.Index]
	default:
		doc.Values()[f.Index] = f.Zero()
	}
	return err
}

// fetchFrom hands one field of a document to put, if the caller may read it.
func (s *Service) fetchFrom(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, name string, f *doctype.Field, put func(any) error) (read bool, err error) {
	of, err := s.may(tx, caller).Visibility(ctx, dt)
	switch {
	case fault.KindOf(err) == fault.Permission:
		return false, nil
	case err != nil:
		return false, err
	case !of.Shows(f):
		return false, nil
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: f}, Key: f.Name}},
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Eq, Value: name},
		Length:  1,
	}
	if of.Where != nil {
		sel.Where = doctype.AllOf{sel.Where, of.Where}
	}
	err = tx.Rows(ctx, sel, func(values []any) error {
		read = true
		return put(values[0])
	})
	return read, err
}
