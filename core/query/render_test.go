package query_test

import (
	"encoding/json"
	"strconv"
	"strings"

	"armature/core/query"
)

// render writes a query as the arguments that mean it.
func render(q *query.Query) map[string]any {
	args := map[string]any{
		"limit_start":       strconv.Itoa(q.Start),
		"limit_page_length": strconv.Itoa(q.Length),
		"as_dict":           strconv.FormatBool(!q.AsArrays),
		"debug":             strconv.FormatBool(q.Debug),
		"parent":            q.Parent,
	}
	var fields []any
	for _, f := range q.Fields {
		fields = append(fields, renderField(f))
	}
	args["fields"] = asText(fields)
	args["expand"] = asText(q.Expand)
	if q.Filter != nil {
		args["filters"] = asText([]any{renderExpr(q.Filter)})
	}
	var order, group []string
	for _, o := range q.Order {
		order = append(order, renderRef(o.Ref)+map[bool]string{true: " DESC", false: " asc"}[o.Desc])
	}
	for _, g := range q.Group {
		group = append(group, renderRef(g))
	}
	args["order_by"] = strings.Join(order, ", ")
	args["group_by"] = strings.Join(group, ",")
	return args
}

func renderField(f query.Field) any {
	ref := renderRef(f.Ref)
	if f.Nested != nil {
		names := f.Nested.Fields
		if f.Nested.Star {
			names = append([]string{"*"}, names...)
		}
		return map[string]any{f.Ref.Name: names}
	}
	if f.Star {
		ref = "*"
	}
	if f.Func != "" {
		object := map[string]any{string(f.Func): ref}
		if f.Alias != "" {
			object["as"] = f.Alias
		}
		return object
	}
	if f.Alias != "" {
		ref += " as " + f.Alias
	}
	return ref
}

func renderRef(r query.Ref) string {
	if r.Table == "" {
		return "`" + r.Name + "`"
	}
	return "`tab" + r.Table + "`.`" + r.Name + "`"
}

func renderExpr(e query.Expr) any {
	switch e := e.(type) {
	case query.And:
		return renderList(e, "and")
	case query.Or:
		return renderList(e, "or")
	case query.Cond:
		return []any{renderRef(e.Ref), string(e.Op), e.Value}
	}
	panic("an expression of unknown kind")
}

func renderList(parts []query.Expr, word string) any {
	var list []any
	for i, part := range parts {
		if i > 0 {
			list = append(list, word)
		}
		list = append(list, renderExpr(part))
	}
	return list
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
