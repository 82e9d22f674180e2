package method

import (
	"context"
	"encoding/json"
	"maps"

	"armature/core/doctype"
	"armature/core/fault"
)

// maxInsertMany is the most documents insert_many takes (reference section 4.3).
const maxInsertMany = 200

func clientInsert(ctx context.Context, call *Call) (any, error) {
	values, err := call.Args.object("doc")
	if err != nil {
		return nil, err
	}
	return call.document(call.insert(ctx, values))
}

// insert creates a document from an object that says its own DocType. A row of
// a child table is added to its parent, which is returned.
func (c *Call) insert(ctx context.Context, values map[string]any) (*doctype.Document, error) {
	typeName, err := doctypeOf(values)
	if err != nil {
		return nil, err
	}
	if c.isChild(typeName) {
		return c.insertRow(ctx, values)
	}
	return c.Documents.As(c.Caller, c.Tx).Insert(ctx, typeName, values)
}

func doctypeOf(values map[string]any) (string, error) {
	if typeName, _ := values["doctype"].(string); typeName != "" {
		return typeName, nil
	}
	return "", fault.Invalid("", "The document does not say its doctype")
}

func clientInsertMany(ctx context.Context, call *Call) (any, error) {
	docs, err := call.Args.list("docs")
	if err != nil {
		return nil, err
	}
	if len(docs) > maxInsertMany {
		return nil, fault.Invalid("", "At most %d documents are inserted at once", maxInsertMany)
	}
	names := []byte{'['}
	for i, item := range docs {
		values, ok := item.(map[string]any)
		if !ok {
			return nil, fault.Invalid("DataError", "docs must be a JSON array of objects")
		}
		doc, err := call.insert(ctx, values)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			names = append(names, ',')
		}
		names = appendName(names, doc)
	}
	return json.RawMessage(append(names, ']')), nil
}

func appendName(dst []byte, doc *doctype.Document) []byte {
	return doctype.AppendValue(dst, doc.Type.Columns[doctype.ColName], doc.Values()[doctype.ColName])
}

// clientSave changes the document if it is stored and creates it otherwise.
func clientSave(ctx context.Context, call *Call) (any, error) {
	values, err := call.Args.object("doc")
	if err != nil {
		return nil, err
	}
	return call.document(call.save(ctx, values))
}

func (c *Call) save(ctx context.Context, values map[string]any) (*doctype.Document, error) {
	typeName, err := doctypeOf(values)
	if err != nil {
		return nil, err
	}
	name := textOf(values["name"])
	if dt := c.Documents.Schema().DocType(typeName); dt != nil && dt.Single {
		name = typeName
	}
	if name == "" {
		return c.insert(ctx, values)
	}
	doc, err := c.update(ctx, typeName, name, values)
	if fault.KindOf(err) == fault.NotFound {
		return c.insert(ctx, values)
	}
	return doc, err
}

// update changes a document; a row of a child table is changed in its parent,
// which is returned.
func (c *Call) update(ctx context.Context, typeName, name string, values map[string]any) (*doctype.Document, error) {
	if c.isChild(typeName) {
		return c.changeRow(ctx, typeName, name, values)
	}
	return c.Documents.As(c.Caller, c.Tx).Update(ctx, typeName, name, values)
}

func clientSetValue(ctx context.Context, call *Call) (any, error) {
	typeName, name, err := call.Args.doctypeAndName()
	if err != nil {
		return nil, err
	}
	values, err := call.Args.fieldValues()
	if err != nil {
		return nil, err
	}
	for field := range values {
		if isStandard(field) {
			return nil, fault.Invalid("", "Cannot edit standard fields")
		}
	}
	return call.document(call.update(ctx, typeName, name, values))
}

// fieldValues reads fieldname and value, or several of them as an object in
// fieldname.
func (a *Args) fieldValues() (map[string]any, error) {
	if text, ok := a.Get("fieldname").(string); ok && !looksLikeObject(text) {
		if text == "" {
			return nil, fault.Invalid("TypeError", "Missing required argument: fieldname")
		}
		return map[string]any{text: a.Get("value")}, nil
	}
	return a.object("fieldname")
}

func isStandard(field string) bool {
	switch field {
	case "name", "owner", "creation", "modified", "modified_by", "docstatus", "idx",
		"doctype", "parent", "parentfield", "parenttype":
		return true
	}
	return false
}

// clientBulkUpdate changes several documents, each for itself: those that fail
// are listed and leave nothing behind.
func clientBulkUpdate(ctx context.Context, call *Call) (any, error) {
	docs, err := call.Args.list("docs")
	if err != nil {
		return nil, err
	}
	if err := call.lockNamed(ctx, docs, "docname"); err != nil {
		return nil, err
	}
	failed := []any{}
	for _, item := range docs {
		values, ok := item.(map[string]any)
		if !ok {
			return nil, fault.Invalid("DataError", "docs must be a JSON array of objects")
		}
		err := call.Tx.Savepoint(ctx, func() error {
			_, err := call.update(ctx, textOf(values["doctype"]), textOf(values["docname"]), values)
			return err
		})
		switch e := fault.From(err); {
		case e == nil:
		case e.Kind == fault.Internal || e.Kind == fault.Unavailable || e.Kind == fault.Timeout:
			return nil, err
		default:
			failed = append(failed, map[string]any{"doc": values, "exc": e.ExcType() + ": " + e.Message})
		}
	}
	return map[string]any{"failed_docs": failed}, nil
}

func clientSubmit(ctx context.Context, call *Call) (any, error) {
	given, err := call.Args.object("doc")
	if err != nil {
		return nil, err
	}
	values := maps.Clone(given)
	values["docstatus"] = json.Number("1")
	return call.document(call.save(ctx, values))
}

func clientCancel(ctx context.Context, call *Call) (any, error) {
	typeName, name, err := call.Args.doctypeAndName()
	if err != nil {
		return nil, err
	}
	return call.document(call.update(ctx, typeName, name, map[string]any{"docstatus": json.Number("2")}))
}

func clientDelete(ctx context.Context, call *Call) (any, error) {
	typeName, name, err := call.Args.doctypeAndName()
	if err != nil {
		return nil, err
	}
	return nil, call.remove(ctx, typeName, name)
}
