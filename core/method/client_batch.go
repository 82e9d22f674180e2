package method

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// maxBatch is the most operations one batch takes.
const maxBatch = 500

// clientBatch runs several writes in the transaction of the request: all of
// them are stored, or none. The answer lists what each left, in their order; an
// error says which operation it was.
func clientBatch(ctx context.Context, call *Call) (any, error) {
	operations, err := call.Args.list("operations")
	if err != nil {
		return nil, err
	}
	if len(operations) > maxBatch {
		return nil, fault.Invalid("", "A batch takes at most %d operations", maxBatch)
	}
	if err := call.lockNamed(ctx, operations, "name"); err != nil {
		return nil, err
	}
	results := []byte{'['}
	for i, item := range operations {
		result, err := call.operation(ctx, item)
		if err != nil {
			return nil, inBatch(i, item, err)
		}
		text, err := encode(result)
		if err != nil {
			return nil, err
		}
		if text == nil {
			text = json.RawMessage("null")
		}
		if i > 0 {
			results = append(results, ',')
		}
		results = append(results, text...)
	}
	return json.RawMessage(append(results, ']')), nil
}

// lockNamed locks the documents that the items of a list are about, so that two lists
// that name them in opposite orders do not wait for each other. A list that is wrong
// is refused where its items are used.
func (c *Call) lockNamed(ctx context.Context, list []any, member string) error {
	var keys []document.Key
	for _, item := range list {
		op, _ := item.(map[string]any)
		doc, _ := op["doc"].(map[string]any)
		keys = append(keys, document.Key{
			DocType: cmp.Or(textOf(op["doctype"]), textOf(doc["doctype"])), Name: cmp.Or(textOf(op[member]), textOf(doc["name"])),
		})
	}
	if len(keys) < 2 {
		return nil
	}
	return c.Documents.LockInOrder(ctx, c.Tx, keys)
}

// inBatch puts the place of the operation before what was wrong with it. An
// error that is no fault is the store's way to ask for another run.
func inBatch(i int, item any, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	op, _ := item.(map[string]any)
	told := *e
	told.Err = err
	told.Message = fmt.Sprintf("operations[%d] (%s %s): %s", i, textOf(op["op"]), textOf(op["doctype"]), e.Message)
	return &told
}

// operation runs one write of a batch. What a document's own object says of its
// DocType and name stands in for what the operation does not say.
func (c *Call) operation(ctx context.Context, item any) (any, error) {
	op, ok := item.(map[string]any)
	if !ok {
		return nil, fault.Invalid("DataError", "an operation is a JSON object")
	}
	given, ok := op["doc"].(map[string]any)
	if !ok && op["doc"] != nil {
		return nil, fault.Invalid("DataError", "doc must be a JSON object")
	}
	values := make(map[string]any, len(given)+1)
	maps.Copy(values, given)
	if doctype := textOf(op["doctype"]); doctype != "" {
		values["doctype"] = doctype
	}
	doctype, err := doctypeOf(values)
	if err != nil {
		return nil, err
	}
	name := textOf(op["name"])
	if name == "" {
		name = textOf(values["name"])
	}
	switch kind := textOf(op["op"]); {
	case kind == "insert":
		if values["name"] == nil && name != "" {
			values["name"] = name
		}
		return c.document(c.insert(ctx, values))
	case kind == "save":
		if name != "" {
			values["name"] = name
		}
		return c.document(c.save(ctx, values))
	case name == "":
		return nil, fault.Invalid("TypeError", "Missing required argument: name")
	default:
		return c.change(ctx, kind, doctype, name, values, op)
	}
}

// change runs an operation on a document that is stored.
func (c *Call) change(ctx context.Context, kind, doctype, name string, values, op map[string]any) (any, error) {
	switch kind {
	case "update":
		return c.document(c.update(ctx, doctype, name, values))
	case "submit":
		values["docstatus"] = json.Number("1")
		return c.document(c.update(ctx, doctype, name, values))
	case "cancel":
		return c.document(c.update(ctx, doctype, name, map[string]any{"docstatus": json.Number("2")}))
	case "discard":
		return c.document(c.Documents.As(c.Caller, c.Tx).Discard(ctx, doctype, name))
	case "rename":
		return c.rename(ctx, doctype, name, textOf(op["new_name"]), op["merge"])
	case "delete":
		return nil, c.remove(ctx, doctype, name)
	}
	return nil, fault.Invalid("", "There is no operation %q", kind)
}

func clientRename(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	old, err := call.Args.Need("old_name")
	if err != nil {
		return nil, err
	}
	return call.rename(ctx, doctype, old, call.Args.Text("new_name"), call.Args.Get("merge"))
}

// rename answers with the new name.
func (c *Call) rename(ctx context.Context, doctype, old, newName string, merge any) (any, error) {
	if newName == "" {
		return nil, fault.Invalid("TypeError", "Missing required argument: new_name")
	}
	doc, err := c.Documents.As(c.Caller, c.Tx).Rename(ctx, doctype, old, newName, query.Flag(merge, false))
	if err != nil {
		return nil, err
	}
	return doc.Name(), nil
}

// remove deletes a document; a row of a child table is taken from its parent.
func (c *Call) remove(ctx context.Context, doctype, name string) error {
	if c.isChild(doctype) {
		return c.removeRow(ctx, doctype, name)
	}
	return c.Documents.As(c.Caller, c.Tx).Delete(ctx, doctype, name)
}

// clientAmended answers with the name of the document that amends another one,
// or false.
func clientAmended(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	name, err := call.Args.Need("docname")
	if err != nil {
		return nil, err
	}
	if dt := call.Documents.Schema().DocType(doctype); dt != nil && dt.Field("amended_from") == nil {
		_, err := call.Documents.As(call.Caller, call.Tx).Get(ctx, doctype, name)
		return false, err
	}
	row, err := call.row(ctx, doctype, []query.Field{{Ref: query.Ref{Name: "name"}}}, "amended_from", query.Eq, name)
	if err != nil || row == nil {
		return false, err
	}
	return row["name"], nil
}

// row reads some fields of the first document whose field meets a condition;
// nil when there is none.
func (c *Call) row(ctx context.Context, doctype string, fields []query.Field, field string, op query.Op, value any) (map[string]any, error) {
	text, err := c.Documents.As(c.Caller, c.Tx).AppendList(ctx, nil, doctype, &query.Query{
		Fields: fields, Length: 1,
		Filter: query.Cond{Ref: query.Ref{Name: field}, Op: op, Value: value},
	})
	if err != nil {
		return nil, err
	}
	rows, err := unchecked(text)
	if err != nil {
		return nil, err
	}
	if list := rows.([]any); len(list) > 0 {
		return list[0].(map[string]any), nil
	}
	return nil, nil
}
