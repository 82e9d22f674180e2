package armature

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
	request := DocListRequest{
		DocType: doctype, Fields: q.Fields, Filters: q.Where, OrFilters: q.Any,
		OrderBy: q.OrderBy, GroupBy: q.GroupBy, LimitStart: int64(q.Start),
	}
	if q.Limit != 0 {
		limit := int64(max(q.Limit, 0))
		request.LimitPageLength = &limit
	}
	err = request.Ask(&rows)
	return rows, err
}

// Count is the number of documents the caller may see for which all filters
// hold.
func Count(doctype string, where ...Filter) (int, error) {
	n, err := DocCountRequest{DocType: doctype, Filters: where}.Ask()
	return int(n), err
}

// orEmpty keeps "in nothing" an empty array: null would mean something else.
func orEmpty(values []any) []any {
	if values == nil {
		return []any{}
	}
	return values
}
