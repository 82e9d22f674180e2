package document

import (
	"context"
	"fmt"

	"armature/core/doctype"
)

// LoadSchema reads every DocType. boot must hold DocType, DocField and DocPerm
// themselves, as the running binary defines them.
func LoadSchema(ctx context.Context, tx Tx, boot *doctype.Schema, version int64) (*doctype.Schema, error) {
	fields, err := childrenByParent(ctx, tx, boot.DocType(doctype.DocFieldName), doctype.DocTypeName)
	if err != nil {
		return nil, fmt.Errorf("load fields: %w", err)
	}
	rules, err := childrenByParent(ctx, tx, boot.DocType(doctype.DocPermName), doctype.DocTypeName)
	if err != nil {
		return nil, fmt.Errorf("load permissions: %w", err)
	}
	heads, err := loadAll(ctx, tx, boot.DocType(doctype.DocTypeName))
	if err != nil {
		return nil, fmt.Errorf("load DocTypes: %w", err)
	}
	naming, err := loadNamingRules(ctx, tx, boot)
	if err != nil {
		return nil, fmt.Errorf("load naming rules: %w", err)
	}
	types := make([]*doctype.DocType, 0, len(heads))
	for _, head := range heads {
		head.PutRows("fields", fields[head.Name()])
		head.PutRows("permissions", rules[head.Name()])
		dt, err := doctype.Define(doctype.DefinitionOf(head))
		if err != nil {
			return nil, fmt.Errorf("load DocType %s: %w", head.Name(), err)
		}
		dt.Naming = naming[dt.Name]
		types = append(types, dt)
	}
	return doctype.NewSchema(version, types), nil
}

func loadAll(ctx context.Context, tx Tx, dt *doctype.DocType) ([]*doctype.Document, error) {
	sel := &doctype.Select{DocType: dt}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	if dt.Child {
		sel.Order = []doctype.OrderBy{
			{Operand: doctype.Operand{Field: dt.Field("parent")}},
			{Operand: doctype.Operand{Field: dt.Field("parentfield")}},
			{Operand: doctype.Operand{Field: dt.Field("idx")}},
		}
	}
	var docs []*doctype.Document
	err := tx.Rows(ctx, sel, func(values []any) error {
		docs = append(docs, doctype.LoadDocument(dt, append([]any(nil), values...)))
		return nil
	})
	return docs, err
}

func childrenByParent(ctx context.Context, tx Tx, dt *doctype.DocType, parenttype string) (map[string][]*doctype.Document, error) {
	rows, err := loadAll(ctx, tx, dt)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]*doctype.Document)
	for _, r := range rows {
		if r.Text("parenttype") == parenttype {
			by[r.Text("parent")] = append(by[r.Text("parent")], r)
		}
	}
	return by, nil
}

// schemaIn returns the DocTypes that a transaction finds, which stay so until it
// ends: another process may have made one a moment ago that links to what is being
// deleted, cancelled or renamed here.
func (s *Service) schemaIn(ctx context.Context, tx Tx) (*doctype.Schema, error) {
	version, err := tx.KeepSchema(ctx)
	if err != nil {
		return nil, err
	}
	if sc := s.Schema(); sc.Version == version {
		return sc, nil
	}
	return LoadSchema(ctx, tx, s.Schema(), version)
}
