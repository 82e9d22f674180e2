package document

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/query"
)

// expr resolves a filter tree.
func (r *resolver) expr(e query.Expr) (Where, error) {
	switch e := e.(type) {
	case query.And:
		all := make(AllOf, 0, len(e))
		for _, part := range e {
			w, err := r.expr(part)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		return all, nil
	case query.Or:
		any := make(AnyOf, 0, len(e))
		for _, part := range e {
			w, err := r.expr(part)
			if err != nil {
				return nil, err
			}
			any = append(any, w)
		}
		return any, nil
	case query.Cond:
		return r.cond(e)
	}
	return nil, fault.Invalid("", "A filter of unknown kind")
}

func (r *resolver) cond(c query.Cond) (Where, error) {
	op, err := r.operand(c.Ref)
	if err != nil {
		return nil, err
	}
	f := op.Field
	switch c.Op {
	case query.Eq, query.Ne, query.Lt, query.Gt, query.Le, query.Ge:
		return r.compare(op, c)
	case query.Like, query.NotLike:
		pattern, ok := filterText(c.Value)
		if !ok || f.Kind == Float { // which the databases print differently
			return nil, fault.Invalid("", "%s: %s takes a text pattern, and no fractions", f.Name, c.Op)
		}
		return Compare{op, c.Op, pattern}, nil
	case query.In, query.NotIn:
		values, err := r.list(f, c.Value)
		if err != nil {
			return nil, err
		}
		return among(op, c.Op, values), nil
	case query.Is:
		word, _ := c.Value.(string)
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "set":
			return Compare{op, query.Is, true}, nil
		case "not set":
			return Compare{op, query.Is, false}, nil
		}
		return nil, fault.Invalid("", "%s: is takes \"set\" or \"not set\"", f.Name)
	case query.Between:
		return r.between(op, c.Value)
	case query.Timespan, query.Previous, query.Next:
		return r.timespan(op, c)
	case query.Descendants, query.NotDesc, query.DescIncl, query.Ancestors, query.NotAnc:
		return r.tree(op, c)
	}
	return nil, fault.Invalid("", "%s: the operator %q does not work on this field", f.Name, c.Op)
}

func (r *resolver) compare(op Operand, c query.Cond) (Where, error) {
	f := op.Field
	if c.Value == nil {
		switch c.Op {
		case query.Eq:
			return Compare{op, query.Is, false}, nil
		case query.Ne:
			return Compare{op, query.Is, true}, nil
		}
		return nil, fault.Invalid("", "%s: null compares only with = and !=", f.Name)
	}
	v, err := filterValue(f, c.Value, r.s.zone())
	if err != nil {
		return nil, err
	}
	if v == "" && isTime(f) {
		return againstNoTime(op, c.Op), nil
	}
	// A bare date against a point in time means the whole day where the bound
	// would otherwise cut it off.
	if f.Kind == Datetime && (c.Op == query.Le || c.Op == query.Gt) && isBareDate(c.Value) {
		v = v.(string)[:len(DateLayout)] + " 23:59:59.999999"
	}
	return Compare{op, c.Op, v}, nil
}

func isTime(f *Field) bool {
	return f.Kind == Date || f.Kind == Datetime || f.Kind == Time
}

// againstNoTime compares a point in time with the empty one, which is null and
// before every other: databases with a type for dates have no value for it.
func againstNoTime(op Operand, how query.Op) Where {
	switch how {
	case query.Lt:
		return AnyOf{}
	case query.Ge:
		return AllOf{}
	case query.Ne, query.Gt:
		return Compare{op, query.Is, true}
	}
	return Compare{op, query.Is, false} // equal, or not after
}

// among is in or not in; the empty point in time among the values is null.
func among(op Operand, how query.Op, values []any) Where {
	if !isTime(op.Field) || !slices.Contains(values, any("")) {
		return Compare{op, how, values}
	}
	values = slices.DeleteFunc(values, func(v any) bool { return v == "" })
	if how == query.In {
		return AnyOf{Compare{op, query.In, values}, Compare{op, query.Is, false}}
	}
	return AllOf{Compare{op, query.NotIn, values}, Compare{op, query.Is, true}}
}

// filterValue is Coerce without the bounds on what may be stored: a filter may
// name a value no row can have.
func filterValue(f *Field, v any, zone *time.Location) (any, error) {
	if f.Numbered {
		if n, err := CoerceInt(f, v); err == nil && v != "" {
			return strconv.FormatInt(n.(int64), 10), nil
		}
	}
	if f.Kind == Text || f.Kind == JSON {
		if s, ok := filterText(v); ok {
			return s, nil
		}
		return nil, fault.Invalid("DataError", "%s: the filter value must be text", f.Name)
	}
	got, err := Coerce(f, v, zone)
	if err == nil && got == nil {
		return "", nil // an empty date: equal to null, before every other
	}
	return got, err
}

func filterText(v any) (string, bool) {
	got, err := CoerceText(&Field{Type: "Long Text"}, v)
	s, ok := got.(string)
	return s, ok && err == nil
}

func isBareDate(v any) bool {
	s, _ := v.(string)
	_, bare, ok := ParseDatetime(strings.TrimSpace(s), nil)
	return ok && bare
}

// list reads the value of in: a list, the text of a JSON list, or words
// separated by commas. Null and empty lists hold nothing.
func (r *resolver) list(f *Field, v any) ([]any, error) {
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
		got, err := filterValue(f, item, r.s.zone())
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
func (r *resolver) between(op Operand, v any) (Where, error) {
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
			if f.Kind != Date && f.Kind != Datetime {
				return nil, fault.Invalid("", "%s: between takes a list of two values", f.Name)
			}
			raw = FormatDatetime(r.s.now())[:len(DateLayout)]
		}
		got, err := filterValue(f, raw, r.s.zone())
		if err != nil {
			return nil, err
		}
		if i == 1 && f.Kind == Datetime && isBareDate(raw) {
			got = got.(string)[:len(DateLayout)] + " 23:59:59.999999"
		}
		pair[i] = got
	}
	return Compare{op, query.Between, pair}, nil
}
