package access

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// expr resolves a filter tree.
func (l *List) expr(e query.Expr) (doctype.Where, error) {
	switch e := e.(type) {
	case query.And:
		all := make(doctype.AllOf, 0, len(e))
		for _, part := range e {
			w, err := l.expr(part)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		return all, nil
	case query.Or:
		some := make(doctype.AnyOf, 0, len(e))
		for _, part := range e {
			w, err := l.expr(part)
			if err != nil {
				return nil, err
			}
			some = append(some, w)
		}
		return some, nil
	case query.Cond:
		return l.cond(e)
	}
	return nil, fault.Invalid("", "A filter of unknown kind")
}

func (l *List) cond(c query.Cond) (doctype.Where, error) {
	op, err := l.operand(c.Ref)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case query.Descendants, query.NotDesc, query.DescIncl, query.Ancestors, query.NotAnc:
		return l.tree(op, c)
	}
	return comparer{l.of.Now}.cond(op, c)
}

// comparer turns what a filter or a rule says of one field into a comparison
// with values that are canonical for it.
type comparer struct {
	now time.Time // the site's wall clock, in the site's zone
}

func (at comparer) cond(op doctype.Operand, c query.Cond) (doctype.Where, error) {
	f := op.Field
	switch c.Op {
	case query.Eq, query.Ne, query.Lt, query.Gt, query.Le, query.Ge:
		return at.compare(op, c)
	case query.Like, query.NotLike:
		pattern, ok := filterText(c.Value)
		if !ok || !f.Takes(c.Op) {
			return nil, fault.Invalid("", "%s: %s takes a text pattern, and no fractions", f.Name, c.Op)
		}
		if len(pattern) > query.MaxPattern || strings.Count(pattern, "%")+strings.Count(pattern, "_") > query.MaxWildcards {
			return nil, fault.Invalid("", "%s: a pattern of %s has at most %d bytes and %d wildcards", f.Name, c.Op, query.MaxPattern, query.MaxWildcards)
		}
		return doctype.Compare{Operand: op, Op: c.Op, Value: pattern}, nil
	case query.In, query.NotIn:
		values, err := at.list(f, c.Value)
		if err != nil {
			return nil, err
		}
		return among(op, c.Op, values), nil
	case query.Is:
		word, _ := c.Value.(string)
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "set":
			return doctype.Compare{Operand: op, Op: query.Is, Value: true}, nil
		case "not set":
			return doctype.Compare{Operand: op, Op: query.Is, Value: false}, nil
		}
		return nil, fault.Invalid("", "%s: is takes \"set\" or \"not set\"", f.Name)
	case query.Between:
		return at.between(op, c.Value)
	case query.Timespan, query.Previous, query.Next:
		return at.timespan(op, c)
	}
	return nil, fault.Invalid("", "%s: the operator %q does not work on this field", f.Name, c.Op)
}

func (at comparer) compare(op doctype.Operand, c query.Cond) (doctype.Where, error) {
	f := op.Field
	if c.Value == nil {
		switch c.Op {
		case query.Eq:
			return doctype.Compare{Operand: op, Op: query.Is, Value: false}, nil
		case query.Ne:
			return doctype.Compare{Operand: op, Op: query.Is, Value: true}, nil
		}
		return nil, fault.Invalid("", "%s: null compares only with = and !=", f.Name)
	}
	v, err := filterValue(f, c.Value, at.now.Location())
	if err != nil {
		return nil, err
	}
	if v == "" && isTime(f) {
		return againstNoTime(op, c.Op), nil
	}
	// A bare date against a point in time means the whole day where the bound
	// would otherwise cut it off.
	if f.Kind == doctype.Datetime && (c.Op == query.Le || c.Op == query.Gt) && isBareDate(c.Value) {
		v = v.(string)[:len(doctype.DateLayout)] + " 23:59:59.999999"
	}
	return doctype.Compare{Operand: op, Op: c.Op, Value: v}, nil
}

func isTime(f *doctype.Field) bool {
	return f.Kind == doctype.Date || f.Kind == doctype.Datetime || f.Kind == doctype.Time
}

// againstNoTime compares a point in time with the empty one, which is null and
// before every other: databases with a type for dates have no value for it.
func againstNoTime(op doctype.Operand, how query.Op) doctype.Where {
	switch how {
	case query.Lt:
		return doctype.AnyOf{}
	case query.Ge:
		return doctype.AllOf{}
	case query.Ne, query.Gt:
		return doctype.Compare{Operand: op, Op: query.Is, Value: true}
	}
	return doctype.Compare{Operand: op, Op: query.Is, Value: false} // equal, or not after
}

// among is in or not in; the empty point in time among the values is null.
func among(op doctype.Operand, how query.Op, values []any) doctype.Where {
	if !isTime(op.Field) || !slices.Contains(values, any("")) {
		return doctype.Compare{Operand: op, Op: how, Value: values}
	}
	values = slices.DeleteFunc(values, func(v any) bool { return v == "" })
	if how == query.In {
		return doctype.AnyOf{doctype.Compare{Operand: op, Op: query.In, Value: values}, doctype.Compare{Operand: op, Op: query.Is, Value: false}}
	}
	return doctype.AllOf{doctype.Compare{Operand: op, Op: query.NotIn, Value: values}, doctype.Compare{Operand: op, Op: query.Is, Value: true}}
}

// filterValue is Coerce without the bounds on what may be stored: a filter may
// name a value no row can have.
func filterValue(f *doctype.Field, v any, zone *time.Location) (any, error) {
	if f.Numbered {
		if n, err := doctype.CoerceInt(f, v); err == nil && v != "" {
			return strconv.FormatInt(n.(int64), 10), nil
		}
	}
	if f.Kind == doctype.Text || f.Kind == doctype.JSON {
		if s, ok := filterText(v); ok {
			return s, nil
		}
		return nil, fault.Invalid("DataError", "%s: the filter value must be text", f.Name)
	}
	got, err := doctype.Coerce(f, v, zone)
	if err == nil && got == nil {
		return "", nil // an empty date: equal to null, before every other
	}
	return got, err
}

func filterText(v any) (string, bool) {
	got, err := doctype.CoerceText(&doctype.Field{Type: "Long Text"}, v)
	s, ok := got.(string)
	return s, ok && err == nil
}

func isBareDate(v any) bool {
	s, _ := v.(string)
	_, bare, ok := doctype.ParseDatetime(strings.TrimSpace(s), nil)
	return ok && bare
}

// list reads the value of in: a list, the text of a JSON list, or words
// separated by commas. Null and empty lists hold nothing.
func (at comparer) list(f *doctype.Field, v any) ([]any, error) {
	var raw []any
	switch v := v.(type) {
	case nil:
	case []any:
		raw = v
	case string:
		if raw = jsonList(v); raw == nil {
			for _, word := range strings.Split(v, ",") {
				raw = append(raw, strings.TrimSpace(word))
			}
			if v == "" {
				raw = nil
			}
		}
	default:
		raw = []any{v}
	}
	values := make([]any, 0, len(raw))
	for _, item := range raw {
		if item == nil {
			continue
		}
		got, err := filterValue(f, item, at.now.Location())
		if err != nil {
			return nil, err
		}
		values = append(values, got)
	}
	return values, nil
}

func jsonList(s string) []any {
	if !strings.HasPrefix(strings.TrimSpace(s), "[") {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var list []any
	if dec.Decode(&list) != nil {
		return nil
	}
	if list == nil {
		list = []any{}
	}
	return list
}

// between is inclusive; plain dates on a Datetime cover the whole first and
// last day; a missing bound is today.
func (at comparer) between(op doctype.Operand, v any) (doctype.Where, error) {
	f := op.Field
	bounds, ok := v.([]any)
	if text, isText := v.(string); isText {
		if bounds = jsonList(text); bounds == nil && text != "" {
			for _, word := range strings.Split(text, ",") {
				bounds = append(bounds, strings.TrimSpace(word))
			}
		}
		ok = true
	}
	if (!ok && v != nil) || len(bounds) > 2 {
		return nil, fault.Invalid("", "%s: between takes a list of two values", f.Name)
	}
	var pair [2]any
	for i := range pair {
		var raw any
		if i < len(bounds) {
			raw = bounds[i]
		}
		if raw == nil || raw == "" {
			if f.Kind != doctype.Date && f.Kind != doctype.Datetime {
				return nil, fault.Invalid("", "%s: between takes a list of two values", f.Name)
			}
			raw = doctype.FormatDatetime(at.now)[:len(doctype.DateLayout)]
		}
		got, err := filterValue(f, raw, at.now.Location())
		if err != nil {
			return nil, err
		}
		if i == 1 && f.Kind == doctype.Datetime && isBareDate(raw) {
			got = got.(string)[:len(doctype.DateLayout)] + " 23:59:59.999999"
		}
		pair[i] = got
	}
	return doctype.Compare{Operand: op, Op: query.Between, Value: pair}, nil
}
