package armature

import (
	"strconv"

	"armature/sdk/go/internal/raw"
)

// All asks List for every row there is.
const All = -1

// Query says which documents of a DocType to list, and what of them. The zero
// Query is the names of the 20 documents modified last.
type Query struct {
	Fields  []string // default: name
	Where   []Filter // all of them hold
	Any     []Filter // and at least one of these
	OrderBy string   // "field asc" or "field desc"; default "modified desc"
	GroupBy string
	Start   int // rows to skip
	Limit   int // rows to return; 0 is the server's default of 20, All is all
}

// Filter is one condition on a field. Make it with Eq and its siblings, or with
// Cond for any operator the server knows.
type Filter struct {
	Field, Op string
	Value     any
}

// Cond is a condition with any operator, such as "between" or "timespan".
func Cond(field, op string, value any) Filter { return Filter{field, op, value} }

// Eq is field = value; a nil value asks for documents without one.
func Eq(field string, value any) Filter { return Filter{field, "=", value} }

// Ne is field != value.
func Ne(field string, value any) Filter { return Filter{field, "!=", value} }

// Lt is field < value.
func Lt(field string, value any) Filter { return Filter{field, "<", value} }

// Le is field <= value.
func Le(field string, value any) Filter { return Filter{field, "<=", value} }

// Gt is field > value.
func Gt(field string, value any) Filter { return Filter{field, ">", value} }

// Ge is field >= value.
func Ge(field string, value any) Filter { return Filter{field, ">=", value} }

// Like matches a pattern of % and _, whatever the case.
func Like(field, pattern string) Filter { return Filter{field, "like", pattern} }

// In is true for any of the values; without values for none.
func In(field string, values ...any) Filter { return Filter{field, "in", orEmpty(values)} }

// NotIn is true for all but the values.
func NotIn(field string, values ...any) Filter { return Filter{field, "not in", orEmpty(values)} }

// IsSet is true for a field that is neither null nor empty.
func IsSet(field string) Filter { return Filter{field, "is", "set"} }

// NotSet is true for a field that is null or empty.
func NotSet(field string) Filter { return Filter{field, "is", "not set"} }

// List returns the documents the caller may see, each with the fields asked for.
func List(doctype string, q Query) ([]Doc, error) { return ListAs[Doc](doctype, q) }

// ListAs is List with rows of type T.
func ListAs[T any](doctype string, q Query) (rows []T, err error) {
	b, err := appendQuery(appendString(request(`{"doctype":`), doctype), q)
	if err == nil {
		err = finish(raw.DocList, b, &rows)
	}
	return rows, err
}

// Count is the number of documents the caller may see for which all filters
// hold.
func Count(doctype string, where ...Filter) (int, error) {
	var n int64
	b, err := appendFilters(appendString(request(`{"doctype":`), doctype), "filters", where)
	if err == nil {
		err = finish(raw.DocCount, b, &n)
	}
	return int(n), err
}

func appendQuery(b []byte, q Query) ([]byte, error) {
	if len(q.Fields) > 0 {
		b = append(b, `,"fields":[`...)
		for i, field := range q.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, field)
		}
		b = append(b, ']')
	}
	b, err := appendFilters(b, "filters", q.Where)
	if err != nil {
		return nil, err
	}
	if b, err = appendFilters(b, "or_filters", q.Any); err != nil {
		return nil, err
	}
	if q.OrderBy != "" {
		b = member(b, "order_by", q.OrderBy)
	}
	if q.GroupBy != "" {
		b = member(b, "group_by", q.GroupBy)
	}
	if q.Start != 0 {
		b = append(b, `,"limit_start":`...)
		b = strconv.AppendInt(b, int64(q.Start), 10)
	}
	if q.Limit != 0 {
		b = append(b, `,"limit_page_length":`...)
		b = strconv.AppendInt(b, int64(max(q.Limit, 0)), 10)
	}
	return b, nil
}

func appendFilters(b []byte, key string, filters []Filter) (_ []byte, err error) {
	if len(filters) == 0 {
		return b, nil
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, `":[`...)
	for i, f := range filters {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, '['), f.Field)
		b = appendString(append(b, ','), f.Op)
		if b, err = encodeArg(append(b, ','), f.Value); err != nil {
			return nil, err
		}
		b = append(b, ']')
	}
	return append(b, ']'), nil
}

// orEmpty keeps "in nothing" an empty array: null would mean something else.
func orEmpty(values []any) []any {
	if values == nil {
		return []any{}
	}
	return values
}
