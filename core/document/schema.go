package document

import (
	"context"
	"fmt"

	"armature/core/permission"
)

// The DocTypes in which DocTypes are stored.
const (
	DocTypeName  = "DocType"
	DocFieldName = "DocField"
	DocPermName  = "DocPerm"
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

// DefinitionOf reads a definition out of a DocType document.
func DefinitionOf(doc *Document) Definition {
	def := Definition{
		Name: doc.Name(), Module: doc.Text("module"), Table: doc.Text("table_name"),
		Autoname: doc.Text("autoname"), TitleField: doc.Text("title_field"),
		Search: doc.Text("search_fields"), SortField: doc.Text("sort_field"), SortOrder: doc.Text("sort_order"),
		Owners: doc.Text("owner_fields"), Public: doc.Text("public_field"),
		Child: doc.Int("istable"), Single: doc.Int("issingle"), Submittable: doc.Int("is_submittable"),
		Tree: doc.Int("is_tree"), Custom: doc.Int("custom"), AllowRename: doc.Int("allow_rename"),
		Track: doc.Int("track_changes"),
	}
	for _, r := range doc.Rows("fields") {
		def.Fields = append(def.Fields, FieldDefinition{
			Name: r.Text("fieldname"), Label: r.Text("label"), Type: r.Text("fieldtype"),
			Options: r.Text("options"), Default: r.Text("default"), Column: r.Text("column_name"),
			FetchFrom: r.Text("fetch_from"), Length: r.Int("length"), Precision: r.Text("precision"),
			PermLevel: r.Int("permlevel"), Required: r.Int("reqd"), Unique: r.Int("unique"),
			Indexed: r.Int("search_index"), ReadOnly: r.Int("read_only"), Hidden: r.Int("hidden"),
			SetOnlyOnce: r.Int("set_only_once"), NonNegative: r.Int("non_negative"),
			NotNullable: r.Int("not_nullable"), Virtual: r.Int("is_virtual"),
			AllowOnSubmit: r.Int("allow_on_submit"), IgnoreUserPermissions: r.Int("ignore_user_permissions"),
			IgnoreXSSFilter: r.Int("ignore_xss_filter"), FetchIfEmpty: r.Int("fetch_if_empty"),
		})
	}
	for _, r := range doc.Rows("permissions") {
		rule := RuleDefinition{
			Role: r.Text("role"), PermLevel: r.Int("permlevel"), IfOwner: r.Int("if_owner"),
			Rights: map[string]bool{},
		}
		for _, right := range permission.Names() {
			if r.Bool(right) {
				rule.Rights[right] = true
			}
		}
		def.Permissions = append(def.Permissions, rule)
	}
	return def
}
