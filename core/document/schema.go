package document

import (
	"context"
	"fmt"
)

// LoadSchema reads every DocType. boot must hold DocType, DocField and DocPerm
// themselves, as the running binary defines them.
func LoadSchema(ctx context.Context, tx Tx, boot *Schema, version int64) (*Schema, error) {
	fields, err := childrenByParent(ctx, tx, boot.DocType(DocFieldName), DocTypeName)
	if err != nil {
		return nil, fmt.Errorf("load fields: %w", err)
	}
	rules, err := childrenByParent(ctx, tx, boot.DocType(DocPermName), DocTypeName)
	if err != nil {
		return nil, fmt.Errorf("load permissions: %w", err)
	}
	heads, err := loadAll(ctx, tx, boot.DocType(DocTypeName))
	if err != nil {
		return nil, fmt.Errorf("load DocTypes: %w", err)
	}
	naming, err := loadNamingRules(ctx, tx, boot)
	if err != nil {
		return nil, fmt.Errorf("load naming rules: %w", err)
	}
	types := make([]*DocType, 0, len(heads))
	for _, head := range heads {
		head.PutRows("fields", fields[head.Name()])
		head.PutRows("permissions", rules[head.Name()])
		dt, err := Define(DefinitionOf(head))
		if err != nil {
			return nil, fmt.Errorf("load DocType %s: %w", head.Name(), err)
		}
		dt.Naming = naming[dt.Name]
		types = append(types, dt)
	}
	return NewSchema(version, types), nil
}

func loadAll(ctx context.Context, tx Tx, dt *DocType) ([]*Document, error) {
	sel := &Select{DocType: dt}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, Column{Operand: Operand{Field: f}, Key: f.Name})
	}
	if dt.Child {
		sel.Order = []OrderBy{
			{Operand: Operand{Field: dt.Field("parent")}},
			{Operand: Operand{Field: dt.Field("parentfield")}},
			{Operand: Operand{Field: dt.Field("idx")}},
		}
	}
	var docs []*Document
	err := tx.Rows(ctx, sel, func(values []any) error {
		docs = append(docs, LoadDocument(dt, append([]any(nil), values...)))
		return nil
	})
	return docs, err
}

func childrenByParent(ctx context.Context, tx Tx, dt *DocType, parenttype string) (map[string][]*Document, error) {
	rows, err := loadAll(ctx, tx, dt)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]*Document)
	for _, r := range rows {
		if r.Text("parenttype") == parenttype {
			by[r.Text("parent")] = append(by[r.Text("parent")], r)
		}
	}
	return by, nil
}
