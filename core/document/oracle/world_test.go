package oracle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A world is what the server and the oracle are given alike: DocTypes with
// rules, documents, shares, User Permissions and callers, drawn from one seed.
// The oracle works on it alone; serve_test.go puts it into a site.
type world struct {
	types   []*kind
	records map[string][]*record // by DocType, child tables left out
	shares  []share
	limits  []limit
	callers []*person
}

// kind is a DocType.
type kind struct {
	name   string
	fields []*field
	rules  []rule
	tree   bool
	child  bool
}

type field struct {
	name   string
	typ    string // Int, Data, Link, Table
	to     string // the DocType of a Link or Table
	level  int
	ignore bool // ignore_user_permissions
}

type rule struct {
	role    string
	level   int
	right   string // read or select
	ifOwner bool
	when    *condition
}

// condition is a row rule: all or any of parts, a comparison, or has.
type condition struct {
	join  string // and, or; empty: a comparison
	parts []*condition
	path  []string
	op    string
	value any
	rows  *condition // of has, has no
}

func (c *condition) filter() any {
	if c.join != "" {
		all := []any{}
		for i, p := range c.parts {
			if i > 0 {
				all = append(all, c.join)
			}
			all = append(all, p.filter())
		}
		return all
	}
	path := ""
	for i, p := range c.path {
		if i > 0 {
			path += "."
		}
		path += p
	}
	if c.rows != nil {
		return []any{path, c.op, []any{c.rows.filter()}}
	}
	return []any{path, c.op, c.value}
}

func (c *condition) text() string {
	if c == nil {
		return ""
	}
	text, err := json.Marshal([]any{c.filter()})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// record is a document or a row of one.
type record struct {
	name, owner string
	values      map[string]any // int64, string or nil
	rows        map[string][]*record
	parent      *record
	table       string
}

type share struct {
	user, kind, name string
	everyone         bool
	read             bool
}

type limit struct {
	user, allow, value, only string
	hide                     bool
}

type person struct {
	name  string
	roles []string
}

func (w *world) kind(name string) *kind {
	for _, k := range w.types {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (k *kind) field(name string) *field {
	for _, f := range k.fields {
		if f.name == name {
			return f
		}
	}
	if name == "name" || name == "owner" {
		return &field{name: name, typ: "Data"}
	}
	return nil
}

func (w *world) record(kind, name string) *record {
	for _, r := range w.records[kind] {
		if r.name == name {
			return r
		}
	}
	return nil
}

// drawer draws a world.
type drawer struct {
	*rand.Rand
	w *world
}

func (d *drawer) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d *drawer, list ...T) T { return list[d.IntN(len(list))] }

var names = []string{"a", "b", "c", "d", "e", "f", "g"}

func drawWorld(seed uint64) *world {
	d := &drawer{rand.New(rand.NewPCG(seed, 1)), &world{records: map[string][]*record{}}}
	level := func() int { return pick(d, 0, 0, 1) }
	link := func(name, to string) *field { return &field{name, "Link", to, level(), d.one(4)} }
	d.w.types = []*kind{
		{name: "Area", tree: true, fields: []*field{{"n", "Int", "", level(), false}, {"t", "Data", "", 0, false}, {"parent_area", "Link", "Area", 0, false}}},
		{name: "Item", fields: []*field{{"n", "Int", "", level(), false}, {"t", "Data", "", level(), false}, link("area", "Area")}},
		{name: "Line", child: true, fields: []*field{{"q", "Int", "", level(), false}, {"x", "Data", "", level(), false}, link("item", "Item")}},
		{name: "Deal", fields: []*field{{"n", "Int", "", level(), false}, {"t", "Data", "", level(), false}, link("item", "Item"), link("area", "Area"),
			link("other", "Deal"), {"lines", "Table", "Line", level(), false}, {"more", "Table", "Line", level(), false}}},
	}
	for i, roles := range [][]string{{"R1"}, {"R2"}, {"R1", "R2"}} {
		d.w.callers = append(d.w.callers, &person{fmt.Sprintf("u%d@example.com", i+1), append(roles, "All", "Guest")})
	}
	for _, k := range d.w.types {
		if !k.child {
			d.rules(k)
			d.documents(k)
		}
	}
	d.sharesAndLimits()
	return d.w
}

func (d *drawer) rules(k *kind) {
	for n := 1 + d.IntN(3); n > 0; n-- {
		r := rule{role: pick(d, "R1", "R2", "All"), right: pick(d, "read", "read", "read", "read", "select"), ifOwner: d.one(3)}
		if d.one(2) {
			r.when = d.condition(k, 2)
		}
		k.add(r)
		if d.one(2) {
			k.add(rule{role: r.role, level: 1, right: "read"})
		}
	}
}

// add adds a rule that does not stand there: the same one twice is refused.
func (k *kind) add(r rule) {
	if !slices.ContainsFunc(k.rules, func(o rule) bool {
		return o.role == r.role && o.level == r.level && o.ifOwner == r.ifOwner && o.when.text() == r.when.text()
	}) {
		k.rules = append(k.rules, r)
	}
}

func (d *drawer) condition(k *kind, depth int) *condition {
	if depth > 0 && d.one(3) {
		c := &condition{join: pick(d, "and", "or")}
		for range 2 {
			c.parts = append(c.parts, d.condition(k, depth-1))
		}
		return c
	}
	f := k.fields[d.IntN(len(k.fields))]
	if f.typ == "Table" && depth > 0 {
		return &condition{path: []string{f.name}, op: pick(d, "has", "has no"), rows: d.condition(d.w.kind(f.to), 0)}
	}
	path := []string{}
	for f.typ == "Table" || f.typ == "Link" && len(path) < 2 && !d.one(3) {
		path = append(path, f.name)
		k = d.w.kind(f.to)
		f = k.fields[d.IntN(len(k.fields))]
	}
	if d.one(5) {
		return &condition{path: append(path, "owner"), op: pick(d, "=", "!="), value: "$user"}
	}
	op, value := d.comparison(f)
	return &condition{path: append(path, f.name), op: op, value: value}
}

// comparison draws an operator and a value for a field.
func (d *drawer) comparison(f *field) (string, any) {
	if f.typ == "Int" {
		if d.one(4) {
			return pick(d, "in", "not in"), []any{int64(d.IntN(4)), int64(d.IntN(4))}
		}
		if d.one(6) {
			return "between", []any{int64(d.IntN(2)), int64(1 + d.IntN(3))}
		}
		return pick(d, "=", "!=", "<", ">", "<=", ">="), int64(d.IntN(4))
	}
	switch d.IntN(5) {
	case 0:
		return pick(d, "in", "not in"), []any{pick(d, names...), pick(d, names...)}
	case 1:
		return "is", pick(d, "set", "not set")
	case 2:
		return pick(d, "like", "not like"), pick(d, names...) + "%"
	}
	return pick(d, "=", "!=", "<", ">"), pick(d, append(names, "")...)
}

func (d *drawer) documents(k *kind) {
	for i, name := range names {
		r := &record{name: name, owner: pick(d, d.w.callers...).name}
		d.fill(k, r)
		if k.tree { // a node stands below an earlier one
			r.values["parent_area"] = nil
			if i > 0 && !d.one(4) {
				r.values["parent_area"] = names[d.IntN(i)]
			}
		}
		d.w.records[k.name] = append(d.w.records[k.name], r)
	}
}

func (d *drawer) fill(k *kind, r *record) {
	r.values, r.rows = map[string]any{}, map[string][]*record{}
	for _, f := range k.fields {
		switch f.typ {
		case "Int":
			r.values[f.name] = int64(d.IntN(4))
		case "Table":
			for n := d.IntN(3); n > 0; n-- {
				row := &record{name: fmt.Sprintf("%s-%s-%d", r.name, f.name, n), owner: r.owner, parent: r, table: f.name}
				d.fill(d.w.kind(f.to), row)
				r.rows[f.name] = append(r.rows[f.name], row)
			}
		default:
			r.values[f.name] = nil
			if !d.one(5) {
				r.values[f.name] = pick(d, names...)
			}
		}
	}
}

func (d *drawer) sharesAndLimits() {
	for n := d.IntN(6); n > 0; n-- {
		s := share{user: pick(d, d.w.callers...).name, kind: pick(d, "Area", "Item", "Deal"), name: pick(d, names...), everyone: d.one(5), read: !d.one(4)}
		if s.everyone {
			s.user = ""
		}
		d.w.shares = append(d.w.shares, s)
	}
	for n := d.IntN(7); n > 0; n-- {
		l := limit{user: pick(d, d.w.callers...).name, allow: pick(d, "Area", "Item", "Deal"), value: pick(d, names...),
			only: pick(d, "", "", "Area", "Item", "Deal"), hide: d.one(2)}
		d.w.limits = append(d.w.limits, l)
		for i := 0; d.one(6) && i == 0; i++ { // so many that they are looked up where they are stored
			for n := range 60 {
				l.value = fmt.Sprintf("nothing %d", n)
				d.w.limits = append(d.w.limits, l)
			}
		}
	}
}

// String is what a reader needs to see why an answer is as it is.
func (w *world) String() string {
	var b strings.Builder
	for _, k := range w.types {
		fmt.Fprintf(&b, "%s\n", k.name)
		for _, f := range k.fields {
			fmt.Fprintf(&b, "  field %+v\n", *f)
		}
		for _, r := range k.rules {
			fmt.Fprintf(&b, "  rule %s %s level %d owner %v %s\n", r.role, r.right, r.level, r.ifOwner, r.when.text())
		}
		for _, r := range w.records[k.name] {
			fmt.Fprintf(&b, "  %s of %s %v\n", r.name, r.owner, r.values)
			for table, rows := range r.rows {
				for _, row := range rows {
					fmt.Fprintf(&b, "    %s: %v\n", table, row.values)
				}
			}
		}
	}
	fmt.Fprintf(&b, "shares %+v\nUser Permissions %+v\n", w.shares, w.limits)
	for _, p := range w.callers {
		fmt.Fprintf(&b, "%s: %v\n", p.name, p.roles)
	}
	return b.String()
}
