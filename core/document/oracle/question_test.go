package oracle_test

import (
	"cmp"
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
	group   []string
	sum     []string // with count(*): a path that is added up
	total   bool     // count(*) alone
}

type filter struct {
	path  []string
	op    string
	value any
}

func (q *question) args() map[string]any {
	m := map[string]any{"limit": "0"}
	fields := []any{"name"}
	switch {
	case q.group != nil:
		fields = []any{dotted(q.group), "count(*) as c"}
		m["group_by"] = dotted(q.group)
	case q.total:
		fields = []any{"count(*) as c"}
	}
	if q.sum != nil {
		fields = append(fields, "sum("+dotted(q.sum)+") as s")
	}
	for i, c := range q.columns {
		fields = append(fields, fmt.Sprintf("%s as c%d", dotted(c), i))
	}
	m["fields"] = fields
	all := []any{}
	for _, f := range q.filters {
		all = append(all, []any{dotted(f.path), f.op, f.value})
	}
	if m["filters"] = all; q.or {
		delete(m, "filters")
		m["or_filters"] = all
	}
	if q.order != nil {
		m["order_by"] = dotted(q.order) + map[bool]string{true: " desc, name asc", false: " asc, name asc"}[q.desc]
	}
	if q.parent != "" {
		m["parent"] = q.parent
	}
	return m
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
	switch d.IntN(5) {
	case 0:
		q.group, _ = d.path(q.kind)
	case 1:
		q.total = true
		if path, f := d.path(q.kind); f.typ == "Int" {
			q.sum = path
		}
	default:
		for n := d.IntN(3); n > 0; n-- {
			path, _ := d.path(q.kind)
			q.columns = append(q.columns, path)
		}
		if path, _ := d.path(q.kind); d.one(2) && !q.multiplies(path) {
			q.order, q.desc = path, d.one(2)
		}
	}
	return q
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
	if f.typ == "Data" || f.typ == "Int" || f.typ == "Link" && d.one(3) {
		return []string{f.name}, f
	}
	to := d.w.kind(f.to)
	for {
		if last := to.fields[d.IntN(len(to.fields))]; last.typ != "Table" {
			return []string{f.name, last.name}, last
		}
	}
}

// answer is what the caller must get: an error, or rows in order if ordered.
type answer struct {
	denied bool
	rows   []map[string]any
}

// binding is one row of a list: a document with one row, or none, of each table
// that the question reaches into.
type binding struct {
	record *record
	rows   map[string]*record
}

// answer works out a question.
func (o *oracle) answer(q *question) answer {
	base, owner := q.kind, q.kind
	if q.parent != "" {
		owner = o.w.kind(q.parent)
	}
	right := o.right(owner)
	if q.parent != "" {
		right = map[bool]string{true: "read"}[o.reads(owner)]
	}
	if right == "" {
		return answer{denied: true}
	}
	s := &seer{o, base, o.levels(owner), right == "select" && !o.forgets("select shows every field")}
	for _, path := range append([][]string{q.order, q.group}, q.paths()...) {
		if path != nil && !s.shows(path) {
			return answer{denied: true}
		}
	}
	for _, f := range q.filters {
		if s.field(f.path).to == "Area" && slices.Contains(nodes, f.op) && base.name != "Area" && !o.reads(o.w.kind("Area")) {
			return answer{denied: true}
		}
	}
	var all []binding
	for _, r := range o.w.records[owner.name] {
		if !o.sees(owner, r, right) && !(q.parent != "" && o.forgets("a row is seen without its document")) {
			continue
		}
		if q.parent == "" {
			all = append(all, s.bind(q, r)...)
			continue
		}
		for _, f := range owner.fields {
			if f.typ == "Table" && slices.Contains(s.levels, f.level) {
				for _, row := range r.rows[f.name] {
					all = append(all, binding{record: row})
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(b binding) bool { return !s.passes(q, b) })
	return answer{rows: s.rows(q, all)}
}

func (q *question) paths() [][]string {
	var all [][]string
	for _, f := range q.filters {
		all = append(all, f.path)
	}
	return all
}

// seer is an oracle for one list.
type seer struct {
	*oracle
	kind    *kind
	levels  []int
	selects bool // only names are shown
}

func (s *seer) field(path []string) *field {
	k := s.kind
	if len(path) == 2 {
		k = s.w.kind(k.field(path[0]).to)
	}
	return k.field(path[len(path)-1])
}

// shows reports whether a path may be named at all.
func (s *seer) shows(path []string) bool {
	f := s.kind.field(path[0])
	forgotten := f.typ == "Table" && s.forgets("levels of a table are not asked") || f.typ != "Table" && s.forgets("levels of the DocType are not asked")
	if !slices.Contains(s.levels, f.level) && !forgotten || s.selects && f.name != "name" {
		return false
	}
	if len(path) == 1 {
		return true
	}
	to, last := s.w.kind(f.to), s.field(path)
	if f.typ == "Table" {
		return slices.Contains(s.levels, last.level) || s.forgets("levels of rows are not asked")
	}
	return s.reads(to) && (s.forgets("levels beyond a link are not asked") || slices.Contains(s.oracle.levels(to), last.level))
}

// bind joins the rows of the tables that a question uses and may see.
func (s *seer) bind(q *question, r *record) []binding {
	all := []binding{{r, map[string]*record{}}}
	used := map[string]bool{}
	for _, path := range append(append(q.paths(), q.columns...), q.group, q.sum, q.order) {
		if path == nil || !q.multiplies(path) || used[path[0]] || !s.shows(path) && !s.forgets("a hidden table multiplies rows") || len(r.rows[path[0]]) == 0 {
			continue
		}
		used[path[0]] = true
		var next []binding
		for _, b := range all {
			for _, row := range r.rows[path[0]] {
				rows := map[string]*record{path[0]: row}
				for k, v := range b.rows {
					rows[k] = v
				}
				next = append(next, binding{r, rows})
			}
		}
		all = next
	}
	return all
}

// value is what a caller sees at the end of a path: null of what is hidden.
func (s *seer) value(b binding, path []string) any {
	if len(path) == 1 {
		return b.record.value(path[0])
	}
	f := s.kind.field(path[0])
	if f.typ == "Table" {
		return b.rows[f.name].value(path[1])
	}
	name, _ := b.record.value(f.name).(string)
	to := s.w.record(f.to, name)
	if to == nil || !s.sees(s.w.kind(f.to), to, "read") && !s.forgets("a link leads to what is hidden") {
		return nil
	}
	return to.value(path[1])
}

func (s *seer) passes(q *question, b binding) bool {
	for _, f := range q.filters {
		ok := false
		if s.forgets("what a link leads to takes the row away when hidden") && len(f.path) == 2 && s.value(b, f.path) == nil {
			return false
		}
		if v := s.value(b, f.path); slices.Contains(nodes, f.op) {
			ok = s.stands(v, f.op, f.value.(string))
		} else {
			ok = s.compare(s.field(f.path), v, f.op, f.value)
		}
		if ok == q.or {
			return ok
		}
	}
	return !q.or || len(q.filters) == 0
}

// stands answers the operators of trees: what is hidden is no node.
func (s *seer) stands(v any, op, node string) bool {
	area, right := s.w.kind("Area"), "read"
	if s.kind.tree && s.selects {
		right = "select"
	}
	seen := func(r *record) bool {
		return s.sees(area, r, right) || s.forgets("operators of trees walk through hidden nodes")
	}
	name, _ := v.(string)
	of, at := s.w.record("Area", node), s.w.record("Area", name)
	below := of != nil && at != nil && seen(of) && seen(at) && slices.Contains(s.above(at, seen), node)
	above := of != nil && at != nil && seen(of) && slices.Contains(s.above(of, seen), name)
	switch op {
	case "descendants of":
		return below
	case "not descendants of":
		return !below
	case "descendants of (inclusive)":
		return below || name == node
	case "ancestors of":
		return above
	}
	return !above
}

func (s *seer) rows(q *question, all []binding) []map[string]any {
	switch {
	case q.group != nil:
		counts := map[any]int64{}
		for _, b := range all {
			counts[s.value(b, q.group)]++
		}
		rows := []map[string]any{}
		for v, n := range counts {
			rows = append(rows, map[string]any{q.group[len(q.group)-1]: v, "c": n})
		}
		return rows
	case q.total:
		row := map[string]any{"c": int64(len(all))}
		if q.sum != nil && s.shows(q.sum) {
			row["s"] = nil
			for _, b := range all {
				if n, ok := s.value(b, q.sum).(int64); ok {
					sum, _ := row["s"].(int64)
					row["s"] = sum + n
				}
			}
		}
		return []map[string]any{row}
	}
	if q.order != nil {
		slices.SortStableFunc(all, func(a, b binding) int {
			c := before(s.value(a, q.order), s.value(b, q.order))
			if q.desc {
				c = -c
			}
			return cmp.Or(c, strings.Compare(a.record.name, b.record.name))
		})
	}
	rows := []map[string]any{}
	for _, b := range all {
		row := map[string]any{"name": b.record.name}
		for i, c := range q.columns {
			if s.shows(c) {
				row[fmt.Sprintf("c%d", i)] = s.value(b, c)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// before puts null first.
func before(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	case less(a, b):
		return -1
	case less(b, a):
		return 1
	}
	return 0
}
