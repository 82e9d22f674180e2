package method

import (
	"context"
	"strings"

	"armature/core/query"
)

// clientValidateLink answers with the name of the document that a link would
// point at, in the letters it is stored in, and with the fields asked for. The
// name is null when there is no such document.
func clientValidateLink(ctx context.Context, call *Call) (any, error) {
	doctype, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	name, err := call.Args.Need("docname")
	if err != nil {
		return nil, err
	}
	if dt := call.Documents.Schema().DocType(doctype); dt != nil && dt.Single {
		return map[string]any{"name": doctype}, nil
	}
	fields, err := call.Args.linkFields()
	if err != nil {
		return nil, err
	}
	row, err := call.row(ctx, doctype, fields, "name", query.Eq, name)
	if err != nil {
		return nil, err
	}
	if row == nil {
		// like knows no difference between small and capital letters.
		pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(name)
		if row, err = call.row(ctx, doctype, fields, "name", query.Like, pattern); err != nil {
			return nil, err
		}
	}
	if row == nil {
		return map[string]any{"name": nil}, nil
	}
	return row, nil
}

// linkFields reads the argument fields: the name, and what else is fetched.
func (a *Args) linkFields() ([]query.Field, error) {
	fields := []query.Field{{Ref: query.Ref{Name: "name"}}}
	if v := a.Get("fields"); v == nil || v == "" {
		return fields, nil
	}
	q, err := query.Parse(func(name string) any {
		if name == "fields" {
			return a.Get("fields")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range q.Fields {
		if f.Ref.Name != "name" && !f.Star && f.Func == "" && f.Nested == nil {
			fields = append(fields, f)
		}
	}
	return fields, nil
}
