package method

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

func clientList(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(call.Args.Get)
	if err != nil {
		return nil, err
	}
	show := func() {}
	if q.Debug && call.Caller.Desk && call.Methods.observe != nil {
		ctx, show = call.watch(ctx)
	}
	rows, err := call.Documents.As(call.Caller, call.Tx).AppendList(ctx, nil, doctype, q)
	show()
	return raw(rows, err)
}

// watch notes the statements a list executes; show puts them into the answer
// under exc, in the form errors have (SPEC: debug).
func (c *Call) watch(ctx context.Context) (_ context.Context, show func()) {
	lines := []string{}
	var spent time.Duration
	ctx = c.Methods.observe(ctx, func(sql string, _ []any, took time.Duration) {
		lines = append(lines, sql)
		spent += took
	})
	return ctx, func() {
		text, err := encode(append(lines, fmt.Sprintf("Execution time: %.6f sec", spent.Seconds())))
		if err == nil {
			c.Extra = map[string]any{"exc": string(text)}
		}
	}
}

func clientCount(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(call.Args.Get)
	if err != nil {
		return nil, err
	}
	return call.Documents.As(call.Caller, call.Tx).Count(ctx, doctype, q)
}

// clientGet answers with one document: by name, the first that filters match,
// or a Single.
func clientGet(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	name := call.Args.Text("name")
	if name == "" {
		if name, err = call.firstName(ctx, doctype); err != nil {
			return nil, err
		}
	}
	opt := document.ReadOptions{WithNull: true}
	return raw(call.Documents.As(call.Caller, call.Tx).AppendDocument(ctx, nil, doctype, name, opt))
}

// firstName is the name of the first document that the filters match; without
// filters that of a Single.
func (c *Call) firstName(ctx context.Context, doctype string) (string, error) {
	if dt := c.Documents.Schema().DocType(doctype); dt != nil && dt.Single {
		return doctype, nil
	}
	if c.Args.Get("filters") == nil {
		return "", fault.Invalid("TypeError", "Missing required argument: name")
	}
	rows, err := c.first(ctx, doctype, []any{"name"}, true)
	if err != nil {
		return "", err
	}
	if rows == nil {
		return "", fault.Missing("%s not found", doctype)
	}
	v, err := unchecked(rows)
	if err != nil {
		return "", err
	}
	return textOf(v.([]any)[0]), nil
}

// first reads some fields of the first document that the argument filters
// matches: the JSON of one row, nil when there is none.
func (c *Call) first(ctx context.Context, doctype string, fields []any, asArray bool) ([]byte, error) {
	q, err := query.Parse(func(name string) any {
		switch name {
		case "fields":
			return fields
		case "filters", "parent", "order_by":
			return c.Args.Get(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range q.Fields {
		if f.Star || f.Func != "" || f.Nested != nil {
			return nil, fault.Invalid("", "Only names of fields are allowed here")
		}
	}
	q.Length, q.AsArrays = 1, asArray
	rows, err := c.Documents.As(c.Caller, c.Tx).AppendList(ctx, nil, doctype, q)
	if err != nil {
		return nil, err
	}
	// The list has brackets around its only row.
	if rows = rows[1 : len(rows)-1]; len(rows) == 0 {
		return nil, nil
	}
	return rows, nil
}

// clientValue answers with some fields of one document: an object, or with
// as_dict false the bare value or values.
func clientValue(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	fields, err := call.Args.fieldNames()
	if err != nil {
		return nil, err
	}
	asArray := !query.Flag(call.Args.Get("as_dict"), true)
	if dt := call.Documents.Schema().DocType(doctype); dt != nil && dt.Single {
		return call.singleValues(ctx, doctype, fields, asArray)
	}
	row, err := call.first(ctx, doctype, fields, asArray)
	switch {
	case err != nil:
		return nil, err
	case row == nil && asArray:
		return nil, nil
	case row == nil:
		return json.RawMessage("{}"), nil
	case asArray && len(fields) == 1:
		row = row[1 : len(row)-1]
	}
	return json.RawMessage(row), nil
}

// fieldNames reads fieldname: one name, a list of names or the JSON text of one.
func (a *Args) fieldNames() ([]any, error) {
	switch v := a.Get("fieldname").(type) {
	case nil:
		return []any{"name"}, nil
	case string:
		if !strings.HasPrefix(strings.TrimSpace(v), "[") {
			return []any{v}, nil
		}
	}
	return a.list("fieldname")
}

// singleValues picks fields of a Single.
func (c *Call) singleValues(ctx context.Context, doctype string, fields []any, asArray bool) (any, error) {
	values, err := c.single(ctx, doctype)
	if err != nil {
		return nil, err
	}
	picked := make(map[string]any, len(fields))
	row := make([]any, 0, len(fields))
	for _, f := range fields {
		name, _ := f.(string)
		v, ok := values[name]
		if !ok {
			return nil, fault.Invalid("DataError", "Field not permitted in query: %s", name)
		}
		picked[name] = v
		row = append(row, v)
	}
	switch {
	case !asArray:
		return picked, nil
	case len(row) == 1:
		return row[0], nil
	}
	return row, nil
}

func (c *Call) single(ctx context.Context, doctype string) (map[string]any, error) {
	opt := document.ReadOptions{WithNull: true}
	text, err := c.Documents.As(c.Caller, c.Tx).AppendDocument(ctx, nil, doctype, doctype, opt)
	if err != nil {
		return nil, err
	}
	v, err := unchecked(text)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

func clientSingleValue(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	field, err := call.Args.Need("field")
	if err != nil {
		return nil, err
	}
	if dt := call.Documents.Schema().DocType(doctype); dt != nil && !dt.Single {
		return nil, fault.Invalid("", "%s is not a single document", doctype)
	}
	return call.singleValues(ctx, doctype, []any{field}, true)
}
