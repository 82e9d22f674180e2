package live

import (
	"encoding/json"
	"strconv"

	"armature/core/fault"
	"armature/core/query"
)

// Bounds of what one stream may ask for.
const (
	maxSubscriptions = 50
	maxAsked         = 32 << 10 // bytes
	// MaxRows is how many rows a list that is followed may have: which ones a
	// subscriber was shown is remembered.
	MaxRows = 10_000
)

// asked is a subscription as a client wrote it.
type asked struct {
	ID      string `json:"id"`
	DocType string `json:"doctype"`
	Name    string `json:"name"`
	Topic   string `json:"topic"`

	Fields    any `json:"fields"`
	Filters   any `json:"filters"`
	OrFilters any `json:"or_filters"`

	query *query.Query // of a list
}

// parse reads what a stream asks for, from the arguments of a request: subscribe, a
// JSON array of objects, or one subscription of which each key is an argument. Errors
// are Validation faults.
func parse(get func(name string) any) ([]asked, error) {
	var list []asked
	switch v := get("subscribe").(type) {
	case nil:
		text := func(name string) string { s, _ := get(name).(string); return s }
		list = []asked{{DocType: text("doctype"), Name: text("name"), Topic: text("topic"),
			Fields: get("fields"), Filters: get("filters"), OrFilters: get("or_filters")}}
	case string:
		if len(v) > maxAsked {
			return nil, fault.Invalid("", "subscribe may have %d bytes", maxAsked)
		}
		if err := json.Unmarshal([]byte(v), &list); err != nil {
			return nil, fault.Invalid("DataError", "subscribe is a JSON array of objects: doctype with name or filters, or topic")
		}
	default:
		return nil, fault.Invalid("DataError", "subscribe is a JSON array of objects")
	}
	if len(list) == 0 || len(list) > maxSubscriptions {
		return nil, fault.Invalid("", "A stream has 1 to %d subscriptions", maxSubscriptions)
	}
	for _, other := range []string{"order_by", "group_by", "limit", "limit_start", "limit_page_length", "expand", "parent", "as_dict"} {
		if get(other) != nil {
			return nil, fault.Invalid("", "A list that is followed has no %s: it is all rows that meet the filters", other)
		}
	}
	seen := map[string]bool{}
	for i := range list {
		a := &list[i]
		if a.ID == "" {
			a.ID = strconv.Itoa(i)
		}
		if seen[a.ID] || len(a.ID) > 100 {
			return nil, fault.Invalid("", "The ids of subscriptions are short, and each is another")
		}
		seen[a.ID] = true
		if err := a.check(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (a *asked) check() error {
	switch {
	case (a.DocType == "") == (a.Topic == ""):
		return fault.Invalid("", "A subscription names a doctype or a topic")
	case a.Topic != "" || a.Name != "":
		if a.Fields != nil || a.Filters != nil || a.OrFilters != nil || a.Topic != "" && a.Name != "" {
			return fault.Invalid("", "Fields and filters are for lists: a document is told whole, and a topic has none")
		}
		return nil
	}
	var err error
	a.query, err = query.Parse(func(name string) any {
		switch name {
		case "fields":
			return a.Fields
		case "filters":
			return a.Filters
		case "or_filters":
			return a.OrFilters
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.query.Length = MaxRows + 1
	if len(a.query.Fields) == 0 {
		a.query.Fields = []query.Field{{Ref: query.Ref{Name: "name"}}, {Ref: query.Ref{Name: "modified"}}}
	}
	for _, f := range a.query.Fields {
		if f.Func != "" {
			return fault.Invalid("", "A list that is followed has rows of documents, and no %s", f.Func)
		}
	}
	a.query.Fields = append([]query.Field{{Ref: query.Ref{Name: "name"}, Alias: hiddenName}}, a.query.Fields...)
	return nil
}

// hiddenName is the key of the first column of each row that is read, by which it is
// known. It is not told.
const hiddenName = "__name"

// only is the list restricted to documents of those names.
func only(q *query.Query, names []string) *query.Query {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = name
	}
	some := *q
	var named query.Expr = query.Cond{Ref: query.Ref{Name: "name"}, Op: query.In, Value: values}
	if some.Filter == nil {
		some.Filter = named
	} else {
		some.Filter = query.And{some.Filter, named}
	}
	return &some
}

// ofDocument is the list of the one document of a name, whole: who sees it sees the
// same of it whose lists have one fingerprint.
func ofDocument(name string, tables []string) *query.Query {
	q := &query.Query{Fields: []query.Field{{Star: true}}, Filter: query.Cond{Ref: query.Ref{Name: "name"}, Op: query.Eq, Value: name}}
	for _, table := range tables {
		q.Fields = append(q.Fields, query.Field{Ref: query.Ref{Name: table}, Nested: &query.Nested{Star: true}})
	}
	return q
}

// eachRow splits the JSON array of a list into its rows, by name and without the
// hidden column.
func eachRow(list []byte, fn func(name string, row []byte)) error {
	var rows []json.RawMessage
	if err := json.Unmarshal(list, &rows); err != nil {
		return err
	}
	for _, row := range rows {
		name, rest, err := cutName(row)
		if err != nil {
			return err
		}
		fn(name, rest)
	}
	return nil
}
