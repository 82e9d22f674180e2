package method

import (
	"context"
	"maps"

	"armature/core/doctype"
	"armature/core/fault"
)

// Rows of child tables are changed by saving the document they belong to, so
// that its rules and events see the change.

func (c *Call) isChild(typeName string) bool {
	dt := c.Documents.Schema().DocType(typeName)
	return dt != nil && dt.Child
}

// insertRow adds a row to the document its values name.
func (c *Call) insertRow(ctx context.Context, values map[string]any) (*doctype.Document, error) {
	parenttype, parent, table := textOf(values["parenttype"]), textOf(values["parent"]), textOf(values["parentfield"])
	if parenttype == "" || parent == "" || table == "" {
		return nil, fault.Invalid("", "A row of a child table needs parenttype, parent and parentfield")
	}
	doc, err := c.Documents.As(c.Caller, c.Tx).Get(ctx, parenttype, parent)
	if err != nil {
		return nil, err
	}
	if f := doc.Type.Field(table); f == nil || f.Options != textOf(values["doctype"]) {
		return nil, fault.Invalid("", "%s has no table %s of such rows", parenttype, table)
	}
	return c.saveRows(ctx, doc, table, append(rowValues(doc, table, "", nil), values))
}

func (c *Call) changeRow(ctx context.Context, typeName, name string, values map[string]any) (*doctype.Document, error) {
	doc, table, err := c.parentOf(ctx, typeName, name)
	if err != nil {
		return nil, err
	}
	changed := maps.Clone(values)
	changed["name"] = name
	return c.saveRows(ctx, doc, table, rowValues(doc, table, name, changed))
}

func (c *Call) removeRow(ctx context.Context, typeName, name string) error {
	doc, table, err := c.parentOf(ctx, typeName, name)
	if err != nil {
		return err
	}
	_, err = c.saveRows(ctx, doc, table, rowValues(doc, table, name, nil))
	return err
}

// parentOf reads the document a row belongs to, and the name of the table.
func (c *Call) parentOf(ctx context.Context, typeName, name string) (*doctype.Document, string, error) {
	row, err := c.Documents.As(c.Caller, c.Tx).Get(ctx, typeName, name)
	if err != nil {
		return nil, "", err
	}
	doc, err := c.Documents.As(c.Caller, c.Tx).Get(ctx, row.Text("parenttype"), row.Text("parent"))
	return doc, row.Text("parentfield"), err
}

// rowValues lists the rows of a table as an update takes them: each by its name,
// which keeps it as it is, with the named one replaced, or left out for nil.
func rowValues(doc *doctype.Document, table, name string, replacement map[string]any) []any {
	var rows []any
	for _, row := range doc.Rows(table) {
		switch {
		case row.Name() != name:
			rows = append(rows, map[string]any{"name": row.Name()})
		case replacement != nil:
			rows = append(rows, replacement)
		}
	}
	return rows
}

func (c *Call) saveRows(ctx context.Context, doc *doctype.Document, table string, rows []any) (*doctype.Document, error) {
	return c.Documents.As(c.Caller, c.Tx).Update(ctx, doc.Type.Name, doc.Name(), map[string]any{table: rows})
}
