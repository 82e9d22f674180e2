package oracle_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// question is a list, a count or an aggregate as a client asks for it.
type question struct {
	kind    *kind
	parent  string // of a child table
	columns [][]string
	filters []filter
	or      bool     // some filter has to hold
	order   []string // a path, before the name
	desc    bool
	newest  bool // no order is asked for: the one changed last comes first
	group   []string
	fold    []string // with count(*): a path that function folds
	with    string   // the function
	total   bool     // count(*) alone
	expand  []string // links that become the documents they lead to
	nested  []string // fields of the rows of the table lines
	start   int
	length  int  // 0: all
	ticks   bool // names of tables stand in backticks
	method  bool // framework.client.get_list is asked
	counted bool // and get_count, for the number of rows alone
}

type filter struct {
	path  []string
	op    string
	value any
}

func (q *question) args() map[string]any {
	m := map[string]any{"limit": q.length}
	fields := []any{"name"}
	switch {
	case q.group != nil:
		fields = []any{q.spelled(q.group), "count(*) as c"}
		m["group_by"] = q.spelled(q.group)
	case q.total:
		fields = []any{"count(*) as c"}
	}
	if q.fold != nil {
		fields = append(fields, q.with+"("+q.spelled(q.fold)+") as s")
	}
	for i, c := range q.columns {
		fields = append(fields, fmt.Sprintf("%s as c%d", q.spelled(c), i))
	}
	for _, link := range q.expand {
		fields = append(fields, link)
	}
	if q.nested != nil {
		fields = append(fields, map[string]any{"lines": q.nested})
	}
	m["fields"] = fields
	all := []any{}
	for _, f := range q.filters {
		all = append(all, []any{q.spelled(f.path), f.op, f.value})
	}
	if m["filters"] = all; q.or {
		delete(m, "filters")
		m["or_filters"] = all
	}
	if q.order != nil {
		way := map[bool]string{true: " desc", false: " asc"}[q.desc]
		if m["order_by"] = q.spelled(q.order) + way + ", name asc"; q.group != nil {
			m["order_by"] = q.spelled(q.order) + way
		}
	}
	if q.expand != nil {
		m["expand"] = q.expand
	}
	if q.start > 0 {
		m["limit_start"] = q.start
	}
	if q.parent != "" {
		m["parent"] = q.parent
	}
	return m
}

// spelled is a path in one of the ways to write it.
func (q *question) spelled(path []string) string {
	switch {
	case q.ticks && len(path) == 1:
		return fmt.Sprintf("`tab%s`.%s", q.kind.name, path[0])
	case q.ticks && path[0] == "lines":
		return "`tabLine`." + path[1]
	}
	return dotted(path)
}

func dotted(path []string) string { return strings.Join(path, ".") }

func (q *question) String() string {
	text, err := json.Marshal(q.args())
	if err != nil {
		panic(err)
	}
	return q.kind.name + " " + string(text)
}

var nodes = []string{"descendants of", "not descendants of", "descendants of (inclusive)", "ancestors of", "not ancestors of"}

// question draws what a client might ask.
func (d *drawer) question() *question {
	q := &question{kind: d.w.types[d.IntN(len(d.w.types))]}
	if deal := d.w.kind("Deal"); len(d.w.records["Deal"]) > 2*sample && d.one(2) {
		q.kind = deal // there is a crowd of them
	}
	if q.kind.child {
		q.parent = "Deal"
	}
	for n := d.IntN(3); n > 0; n-- {
		path, f := d.path(q.kind)
		one := filter{path: path}
		if f.to == "Area" && d.one(2) {
			one.op, one.value = pick(d, nodes...), pick(d, names...)
		} else {
			one.op, one.value = d.comparison(f)
		}
		q.filters = append(q.filters, one)
	}
	if q.kind.tree && d.one(3) {
		q.filters = append(q.filters, filter{[]string{"name"}, pick(d, nodes...), pick(d, names...)})
	}
	q.or = len(q.filters) > 0 && d.one(4)
	q.ticks, q.method = d.one(4), d.one(3)
	switch d.IntN(6) {
	case 0:
		q.group, _ = d.path(q.kind)
		if d.one(2) {
			q.order, q.desc = q.group, d.one(2)
		}
		d.fold(q)
	case 1:
		q.total = true
		d.fold(q)
	case 2:
		q.counted = true
	default:
		for n := d.IntN(3); n > 0; n-- {
			path, _ := d.path(q.kind)
			q.columns = append(q.columns, path)
		}
		if path, _ := d.path(q.kind); d.one(2) && !q.multiplies(path) {
			q.order, q.desc = path, d.one(2)
		}
		for _, f := range q.kind.fields {
			shown := slices.ContainsFunc(q.columns, func(c []string) bool { return len(c) == 1 && c[0] == f.name })
			if f.typ == "Link" && !shown && d.one(6) {
				q.expand = append(q.expand, f.name)
			}
		}
		if q.kind.name == "Deal" && d.one(4) {
			q.nested = pick(d, []string{"q"}, []string{"name", "x"}, []string{"item", "q", "f"})
		}
	}
	if q.columnsOnly() && q.order == nil && d.one(2) {
		q.newest = true
	}
	if q.newest && d.one(2) { // may have to be looked for far away
		q.length = 1 + d.IntN(pick(d, 10, 100, 1200))
	} else if q.ordered() && d.one(3) {
		q.start, q.length = d.IntN(4), 1+d.IntN(4)
	} else if !q.ordered() && d.one(2) {
		q.length = 2000 // a page that holds all: it may be looked for in another way
	}
	return q
}

// fold draws a function and what it folds.
func (d *drawer) fold(q *question) {
	path, f := d.path(q.kind)
	number := f.typ == "Int" || f.typ == "Float"
	if q.with = pick(d, "min", "max", "count", "sum", "avg"); number || q.with[0] != 's' && q.with[0] != 'a' {
		q.fold = path
	}
}

// ordered reports whether the order of the rows is told to the last.
func (q *question) ordered() bool {
	return q.newest || q.order != nil && (q.group != nil || !slices.ContainsFunc(append(q.paths(), q.columns...), q.multiplies))
}

// columnsOnly reports whether each document that is found is one row.
func (q *question) columnsOnly() bool {
	return q.group == nil && !q.total && !q.counted && q.parent == "" && !slices.ContainsFunc(append(q.paths(), q.columns...), q.multiplies)
}

// multiplies reports whether a path goes through a table.
func (q *question) multiplies(path []string) bool {
	return len(path) == 2 && q.kind.field(path[0]).typ == "Table"
}

func (d *drawer) path(k *kind) ([]string, *field) {
	f := k.fields[d.IntN(len(k.fields))]
	if d.one(6) {
		return []string{"owner"}, k.field("owner")
	}
	if f.to == "" || f.typ == "Link" && d.one(3) {
		return []string{f.name}, f
	}
	to := d.w.kind(f.to)
	for {
		if last := to.fields[d.IntN(len(to.fields))]; last.typ != "Table" {
			return []string{f.name, last.name}, last
		}
	}
}

func (q *question) paths() [][]string {
	var all [][]string
	for _, f := range q.filters {
		all = append(all, f.path)
	}
	return all
}
