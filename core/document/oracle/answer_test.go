package oracle_test

import (
	"slices"
)

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
	for _, path := range append(append(q.paths(), q.columns...), q.group, q.fold, q.order) {
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
	area := s.w.kind("Area")
	seen := func(r *record) bool {
		if s.kind.tree && s.selects {
			return false // who stands below whom is not shown
		}
		return s.sees(area, r, "read") || s.forgets("operators of trees walk through hidden nodes")
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
