package method

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
)

// clientDocTypes lists the DocTypes of which the caller may read or make documents, by
// name: what they are, and which rights the caller has on some document of each.
func clientDocTypes(_ context.Context, call *Call) (any, error) {
	all := []any{}
	for dt := range call.Documents.Schema().All {
		if dt.Child || !access.Reaches(call.Caller, dt, access.Read) && !access.Reaches(call.Caller, dt, access.Create) {
			continue
		}
		all = append(all, map[string]any{
			"name": dt.Name, "module": dt.Module, "title_field": dt.TitleField, "rights": reached(call, dt),
			"issingle": flag(dt.Single), "is_submittable": flag(dt.Submittable), "is_tree": flag(dt.Tree), "custom": flag(dt.Custom),
		})
	}
	slices.SortFunc(all, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
	return all, nil
}

var clientDocTypeArgs = json.RawMessage(`{"type": "object", "properties": {"doctype": {"type": "string"}}, "required": ["doctype"]}`)

// clientDocType answers with a DocType as it is written down, for who draws a list or a
// form: the properties and fields that the caller may see, those of the tables in it, and
// at which permission levels the caller reads and writes. It is for whoever reaches a
// document of it. Errors: Denied for others, and for a table, which is
// shown with what it is in; Missing for no DocType of that name.
func clientDocType(ctx context.Context, call *Call) (any, error) {
	typeName, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	all, err := call.Documents.As(call.Caller, call.Tx).Drawn(ctx, typeName)
	if err != nil {
		return nil, err
	}
	dt := call.Documents.Schema().DocType(typeName)
	read := access.LevelsFor(dt.Permissions, call.Caller, access.Read) | 1
	tables := map[string]any{}
	for _, doc := range all[1:] {
		tables[doc.Name()] = drawn(doc, read)
	}
	return map[string]any{
		"doctype": drawn(all[0], read), "tables": tables, "rights": reached(call, dt),
		"read_levels": levels(read), "write_levels": levels(access.LevelsFor(dt.Permissions, call.Caller, access.Write) | 1),
	}, nil
}

// reached are the rights that the caller has on some document of a DocType.
func reached(call *Call, dt *doctype.DocType) []string {
	rights := []string{}
	for _, name := range doctype.RightNames() {
		if right, ok := doctype.ParseRight(name); ok && access.Reaches(call.Caller, dt, right) {
			rights = append(rights, name)
		}
	}
	return rights
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func levels(set access.Levels) []int {
	list := []int{}
	for level := range 10 {
		if set.Has(level) {
			list = append(list, level)
		}
	}
	return list
}

// keptBack is what of a DocType and its fields concerns the database, or who may do what.
var keptBack = []string{"table_name", "column_name", "retired_columns", "definition_hash", "owner_fields", "public_field", "permissions"}

// drawn is a DocType without what is kept back, and with the fields of some levels.
func drawn(doc *doctype.Document, seen access.Levels) map[string]any {
	v := written(doc)
	fields := []any{}
	for _, row := range doc.Rows("fields") {
		if level := int(row.Int("permlevel")); level >= 0 && level < 10 && seen.Has(level) {
			fields = append(fields, written(row))
		}
	}
	v["name"], v["modified"], v["fields"] = doc.Name(), doc.Modified(), fields
	return v
}

// written are the declared values of a document or a row that are not kept back.
func written(doc *doctype.Document) map[string]any {
	values := map[string]any{}
	for _, f := range doc.Type.Columns {
		if v := doc.Get(f.Name); !f.Standard && !slices.Contains(keptBack, f.Name) && v != nil && v != "" {
			values[f.Name] = v
		}
	}
	return values
}
