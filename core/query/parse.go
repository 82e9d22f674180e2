package query

// Parse reads a query from the arguments of a request. get returns one argument
// by name, nil when it is absent: text, as a query string or form has it (lists
// and objects as JSON), or a JSON value (string, bool, json.Number, []any,
// map[string]any).
//
// Errors are Validation faults (417): DataError for what has the wrong form and
// for names that no field can have, ValidationError for operators, order and
// page. Whatever it is given, Parse reads no more than the bounds in bounds.go.
func Parse(get func(name string) any) (*Query, error) {
	p := &parser{}
	q := &Query{
		AsArrays: !Flag(get("as_dict"), true),
		Debug:    Flag(get("debug"), false),
	}
	var err error
	if q.Fields, err = p.fields(get("fields")); err != nil {
		return nil, err
	}
	if q.Expand, err = p.expand(get("expand")); err != nil {
		return nil, err
	}
	if q.Filter, err = p.filters(get("filters"), get("or_filters")); err != nil {
		return nil, err
	}
	if q.Order, err = p.order(get("order_by"), q.Fields); err != nil {
		return nil, err
	}
	if q.Group, err = p.group(get("group_by")); err != nil {
		return nil, err
	}
	if q.Start, err = start(get("limit_start"), get("start")); err != nil {
		return nil, err
	}
	if q.Length, err = length(get("limit_page_length"), get("limit")); err != nil {
		return nil, err
	}
	q.Parent, err = doctype(get("parent"))
	return q, err
}

// parser counts what it has read, so that no input makes a query without end.
type parser struct {
	conditions int
	values     int

	rule  bool // it is the condition of a rule: paths may be long, tables are asked for rows
	depth int  // of Has within Has
}

func doctype(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		if v == "" || isTable(v) {
			return v, nil
		}
	}
	return "", malformed("parent must be the name of a DocType")
}
