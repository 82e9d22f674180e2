package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// reference is one field by which documents name documents of some DocType.
// kind is nil for a Link; for a Dynamic Link it is the field that holds the
// DocType.
type reference struct {
	dt    *doctype.DocType
	field *doctype.Field
	kind  *doctype.Field
}

// loose are fields that name a document without being links.
var loose = []struct{ doctype, kind, name string }{
	{versionName, "ref_doctype", "docname"},
	{"File", "attached_to_doctype", "attached_to_name"},
}

// belonging are DocTypes whose documents are about another one and do not keep
// it from being deleted; those of gone go with it.
var (
	belonging = []string{"ToDo", "DocShare", "Comment", "File", versionName}
	gone      = []string{"DocShare", "Comment"}
)

// references calls yield for every field that may name documents of the DocType.
func references(sc *doctype.Schema, typeName string) func(yield func(reference) bool) {
	return func(yield func(reference) bool) {
		for dt := range sc.All {
			for _, f := range dt.Columns {
				var kind *doctype.Field
				switch {
				case f.IsLink() && f.Options == typeName:
				case f.IsDynamicLink() && dt.Field(f.Options) != nil && dt.Field(f.Options).Index >= 0:
					kind = dt.Field(f.Options)
				default:
					continue
				}
				if !yield(reference{dt, f, kind}) {
					return
				}
			}
		}
		for _, l := range loose {
			dt := sc.DocType(l.doctype)
			if dt != nil && !yield(reference{dt, dt.Field(l.name), dt.Field(l.kind)}) {
				return
			}
		}
	}
}

// to is the condition that a document names the one of that name.
func (r reference) to(typeName, name string) doctype.Where {
	where := doctype.AllOf{doctype.Compare{Operand: doctype.Operand{Field: r.field}, Op: query.Eq, Value: name}}
	if r.kind != nil {
		where = append(where, doctype.Compare{Operand: doctype.Operand{Field: r.kind}, Op: query.Eq, Value: typeName})
	}
	return where
}

// removeBelonging deletes what is about a document that is being deleted.
func (s *Service) removeBelonging(ctx context.Context, tx Tx, doc *doctype.Document) error {
	for ref := range references(s.Schema(), doc.Type.Name) {
		if ref.kind == nil || !slices.Contains(gone, ref.dt.Name) || ref.dt == doc.Type {
			continue
		}
		names, err := s.column(ctx, tx, ref.dt, ref.dt.Columns[doctype.ColName], ref.to(doc.Type.Name, doc.Name()))
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := tx.Delete(ctx, s.Schema(), ref.dt, name.(string)); err != nil {
				return err
			}
		}
	}
	return nil
}
