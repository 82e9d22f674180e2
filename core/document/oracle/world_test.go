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
	clock   int // of what was changed last
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
	typ    string // Int, Float, Date, Data, Link, Table
	to     string // the DocType of a Link or Table
	level  int
	ignore bool   // ignore_user_permissions
	fetch  string // fetch_from
}

type rule struct {
	role    string
	level   int
	right   string // read, select, write, create or delete
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
	at          int            // when it was changed last: later than what is less
	values      map[string]any // int64, float64, string or nil
	rows        map[string][]*record
	parent      *record
	table       string
}

type share struct {
	user, kind, name string
	everyone         bool
	read, write      bool
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
	if name == "name" || name == "owner" || name == "parent" {
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
	plain := func(name, typ string) *field { return &field{name: name, typ: typ, level: level()} }
	link := func(name, to string) *field {
		return &field{name: name, typ: "Link", to: to, level: level(), ignore: d.one(4)}
	}
	table := func(name string) *field { return &field{name: name, typ: "Table", to: "Line", level: level()} }
	d.w.types = []*kind{
		{name: "Area", tree: true, fields: []*field{plain("n", "Int"), {name: "t", typ: "Data"}, {name: "parent_area", typ: "Link", to: "Area"}}},
		{name: "Item", fields: []*field{plain("n", "Int"), plain("t", "Data"), plain("d", "Date"), link("area", "Area")}},
		{name: "Line", child: true, fields: []*field{plain("q", "Int"), plain("x", "Data"), plain("f", "Float"), link("item", "Item")}},
		{name: "Deal", fields: []*field{plain("n", "Int"), plain("t", "Data"), plain("f", "Float"), plain("d", "Date"), link("item", "Item"), link("area", "Area"),
			link("other", "Deal"), {name: "got", typ: "Data", level: level(), fetch: "item." + pick(d, "t", "owner")}, table("lines"), table("more")}},
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
	if seed%3 == 2 {
		d.crowd(d.w.kind("Deal"))
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
	for n := d.IntN(4); n > 0; n-- {
		r := rule{role: pick(d, "R1", "R2", "All"), right: pick(d, "write", "write", "create", "delete"), ifOwner: d.one(3)}
		if d.one(2) {
			r.when = d.condition(k, 2)
		}
		k.add(r)
		if r.right == "write" && d.one(2) {
			k.add(rule{role: r.role, level: 1, right: "write"})
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
	path = append(path, f.name)
	switch {
	case f.typ == "Date" && d.one(2):
		return &condition{path: path, op: pick(d, "<", ">=", "!="), value: pick(d, "$today", "$now")}
	case f.typ == "Data" && d.one(5):
		return &condition{path: path, op: pick(d, "in", "not in"), value: "$roles"}
	}
	op, value := d.comparison(f)
	return &condition{path: path, op: op, value: value}
}

// What fields hold: names where they are links, and texts that a pattern may
// take for something else.
var (
	texts = append([]string{"a%", "a_b", `a\b`, "aXb", "AB", "R1", "R2"}, names...)
	days  = []string{"2001-02-03", "2020-12-31", "2021-01-01", "2999-01-01"}
)

func (d *drawer) float() float64 { return float64(d.IntN(9)-2) / 4 }

func (d *drawer) pattern() string {
	return pick(d, "", "%", "a", "b") + pick(d, "", "_", `\_`, `\%`, `\\`, "%") + pick(d, "", "b", "B", "%", `\`)
}

// comparison draws an operator and a value for a field.
func (d *drawer) comparison(f *field) (string, any) {
	value := func() any { return d.operand(f) }
	switch n := d.IntN(12); {
	case n < 3:
		return pick(d, "in", "not in"), []any{value(), value()}
	case n == 3 && f.typ != "Data" && f.typ != "Link":
		a, b := value(), value()
		if less(b, a) && !d.one(4) {
			a, b = b, a
		}
		if a != "" && b != "" { // stands for today
			return "between", []any{a, b}
		}
	case n == 4:
		return "is", pick(d, "set", "not set")
	case n < 7 && (f.typ == "Data" || f.typ == "Link"):
		return pick(d, "like", "not like"), d.pattern()
	case n == 7 && f.typ == "Int":
		return pick(d, "like", "not like"), pick(d, "1%", "%", "_", "2")
	}
	return pick(d, "=", "!=", "<", ">", "<=", ">="), value()
}

// operand draws what a field is compared with.
func (d *drawer) operand(f *field) any {
	switch f.typ {
	case "Int":
		return int64(d.IntN(5) - 1)
	case "Float":
		return d.float()
	case "Date":
		return pick(d, append(days, "")...)
	case "Link":
		return pick(d, append(names, "")...)
	}
	return pick(d, append(texts, "")...)
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
		d.w.add(k, r)
	}
}

// crowd adds so many documents that the page of one who sees few of them is looked
// for in every way a store has.
func (d *drawer) crowd(k *kind) {
	for n := range 600 {
		r := &record{name: fmt.Sprintf("crowd%d", n), owner: "Administrator"}
		if d.one(15) {
			r.owner = pick(d, d.w.callers...).name
		}
		d.fill(k, r)
		d.w.add(k, r)
	}
}

func (w *world) add(k *kind, r *record) {
	w.changed(r)
	w.records[k.name] = append(slices.Clip(w.records[k.name]), r)
}

// changed makes a document the one that was changed last.
func (w *world) changed(r *record) {
	w.clock++
	r.at = w.clock
}

func (d *drawer) fill(k *kind, r *record) {
	r.values, r.rows = map[string]any{}, map[string][]*record{}
	for _, f := range k.fields {
		switch f.typ {
		case "Int":
			r.values[f.name] = int64(d.IntN(4))
		case "Float":
			r.values[f.name] = d.float()
		case "Date":
			r.values[f.name] = nil
			if !d.one(4) {
				r.values[f.name] = pick(d, days...)
			}
		case "Data":
			r.values[f.name] = nil
			if !d.one(5) {
				r.values[f.name] = pick(d, texts...)
			}
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
		s := share{user: pick(d, d.w.callers...).name, kind: pick(d, "Area", "Item", "Deal"), name: pick(d, names...), everyone: d.one(5), read: !d.one(4), write: d.one(3)}
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
		for i, r := range w.records[k.name] {
			if i == 60 {
				fmt.Fprintln(&b, "  ...")
				break
			}
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
