package oracle_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// oracle works out by hand what a caller sees, one document after the other. It
// is written to be read beside the reference and to be slow.
type oracle struct {
	w    *world
	p    *person
	hole string // what it forgets, see holes
}

func (o *oracle) forgets(hole string) bool { return o.hole == hole }

func (o *oracle) has(role string) bool { return slices.Contains(o.p.roles, role) }

// levels are those at which the caller reads fields of a DocType.
func (o *oracle) levels(k *kind) []int {
	all := []int{0}
	for _, r := range k.rules {
		if r.right == "read" && o.has(r.role) {
			all = append(all, r.level)
		}
	}
	return all
}

// rules are those that give the caller a right on documents.
func (o *oracle) rules(k *kind, right string) (all []rule, unlimited bool) {
	for _, r := range k.rules {
		if r.level == 0 && r.right == right && o.has(r.role) {
			all = append(all, r)
			unlimited = unlimited || !r.ifOwner && r.when == nil
		}
	}
	return all, unlimited
}

// right is the one that a list of the DocType asks; empty: there is none.
func (o *oracle) right(k *kind) string {
	read, full := o.rules(k, "read")
	if _, selects := o.rules(k, "select"); !full && selects {
		return "select"
	}
	if len(read) > 0 || o.anyShare(k) {
		return "read"
	}
	return ""
}

func (o *oracle) reads(k *kind) bool {
	read, _ := o.rules(k, "read")
	return len(read) > 0 || o.anyShare(k)
}

func (o *oracle) anyShare(k *kind) bool {
	return slices.ContainsFunc(o.w.shares, func(s share) bool { return s.kind == k.name && (s.everyone || s.user == o.p.name) })
}

// sees reports whether a right holds on one document.
func (o *oracle) sees(k *kind, r *record, right string) bool {
	if r == nil {
		return false // a link to what is not there
	}
	for _, s := range o.w.shares {
		if s.kind == k.name && s.name == r.name && o.shared(s, right) {
			return true
		}
	}
	return o.permitted(k, r) && o.ruled(k, r, right)
}

func (o *oracle) shared(s share, right string) bool {
	given := right == "read" && (s.read || o.forgets("a share without read lets read")) || right == "write" && s.write
	return given &&
		(s.user == o.p.name || s.everyone && !o.forgets("shares with everyone are not read")) && !o.forgets("shares are not asked")
}

func (o *oracle) ruled(k *kind, r *record, right string) bool {
	rules, _ := o.rules(k, right)
	every := len(rules) > 0
	for _, rule := range rules {
		mine := !rule.ifOwner || right == "create" || r.owner == o.p.name || o.forgets("if_owner is not read")
		if met := mine && (rule.when == nil || o.forgets("conditions are not read") || o.meets(k, r, rule.when)); !met {
			every = false
		} else if !o.forgets("all rules must hold") {
			return true
		}
	}
	return every
}

// permitted applies User Permissions.
func (o *oracle) permitted(k *kind, r *record) bool {
	if o.forgets("User Permissions are not asked") {
		return true
	}
	if values := o.values(k, k.name); values != nil && !slices.Contains(values, r.name) {
		return false
	}
	for _, f := range k.fields {
		if f.typ != "Link" || f.ignore && !o.forgets("links that ignore User Permissions do not") || k.tree && f.name == "parent_area" {
			continue
		}
		v, _ := r.values[f.name].(string)
		if values := o.values(k, f.to); (v != "" || o.forgets("an empty link is refused by a User Permission")) && values != nil && !slices.Contains(values, v) {
			return false
		}
	}
	return true
}

// values are the documents of allow to which the caller is narrowed in k.
func (o *oracle) values(k *kind, allow string) []string {
	var all []string
	for _, l := range o.w.limits {
		if l.user != o.p.name || l.allow != allow || l.only != "" && l.only != k.name && !o.forgets("the DocType that a User Permission is applicable for is not read") {
			continue
		}
		all = append(all, l.value)
		if o.w.kind(allow).tree && (!l.hide || o.forgets("hidden descendants of a permitted node are seen")) && !o.forgets("descendants of a permitted node are not seen") {
			for _, node := range o.w.records[allow] {
				if slices.Contains(o.above(node, func(*record) bool { return true }), l.value) {
					all = append(all, node.name)
				}
			}
		}
	}
	return all
}

// above are the names of the nodes over one, as far as they are seen.
func (o *oracle) above(node *record, seen func(*record) bool) []string {
	var all []string
	for node != nil {
		up, _ := node.values["parent_area"].(string)
		if node = o.w.record("Area", up); node == nil || !seen(node) {
			break
		}
		all = append(all, node.name)
	}
	return all
}

// meets evaluates a row rule, with the platform's eyes.
func (o *oracle) meets(k *kind, r *record, c *condition) bool {
	switch c.join {
	case "and":
		return o.meets(k, r, c.parts[0]) && o.meets(k, r, c.parts[1])
	case "or":
		return o.meets(k, r, c.parts[0]) || o.meets(k, r, c.parts[1])
	}
	return o.along(k, r, c.path, c)
}

// along follows a path; over a table it branches, and where it ends early every
// field is null.
func (o *oracle) along(k *kind, r *record, path []string, c *condition) bool {
	if len(path) == 1 {
		if c.rows != nil {
			found := false
			if r != nil {
				for _, row := range r.rows[path[0]] {
					found = found || o.meets(o.w.kind(k.field(path[0]).to), row, c.rows)
				}
			}
			return found == (c.op == "has" || o.forgets("has no is has"))
		}
		value := c.value
		switch value {
		case "$user":
			value = o.p.name
		case "$today", "$now":
			value = time.Now().UTC().Format(time.DateOnly) // no day that is drawn is near it
		case "$roles":
			all := []any{}
			for _, role := range o.p.roles {
				all = append(all, role)
			}
			value = all
		}
		return o.compare(k.field(path[0]), r.value(path[0]), c.op, value)
	}
	f := k.field(path[0])
	to := o.w.kind(f.to)
	if r != nil && f.typ == "Table" {
		for _, row := range r.rows[f.name] {
			if o.along(to, row, path[1:], c) {
				return true
			}
		}
		return len(r.rows[f.name]) == 0 && o.along(to, nil, path[1:], c)
	}
	name, _ := r.value(f.name).(string)
	return o.along(to, o.w.record(f.to, name), path[1:], c)
}

// value is a field of a document, null of none.
func (r *record) value(name string) any {
	switch {
	case r == nil:
		return nil
	case name == "name":
		return r.name
	case name == "owner":
		return r.owner
	case name == "parent":
		return r.parent.name
	}
	return r.values[name]
}

func (o *oracle) compare(f *field, v any, op string, want any) bool {
	if v == nil && op != "is" && o.forgets("null is unlike everything") {
		return false
	}
	return compare(f, v, op, want)
}

// compare has the null rules of the reference, section 1.10.
func compare(f *field, v any, op string, want any) bool {
	known := v
	if v == nil {
		known = ""
		switch f.typ {
		case "Int":
			known = int64(0)
		case "Float":
			known = 0.0
		}
	}
	switch op {
	case "=":
		return known == want
	case "!=":
		return known != want
	case "<":
		return less(known, want)
	case ">":
		return less(want, known)
	case "<=":
		return !less(want, known)
	case ">=":
		return !less(known, want)
	case "in":
		return slices.Contains(want.([]any), known)
	case "not in":
		return !slices.Contains(want.([]any), known)
	case "is":
		return (v != nil && v != "") == (want == "set")
	case "like":
		return v != nil && like(fmt.Sprint(v), want.(string))
	case "not like":
		if f.typ == "Int" && v == nil {
			known = ""
		}
		return !like(fmt.Sprint(known), want.(string))
	case "between":
		bounds := want.([]any)
		return v != nil && !less(v, bounds[0]) && !less(bounds[1], v)
	}
	panic(op)
}

func less(a, b any) bool {
	switch x := a.(type) {
	case int64:
		return x < b.(int64)
	case float64:
		return x < b.(float64)
	}
	return a.(string) < b.(string)
}

// like reads a pattern as a regular expression.
func like(text, pattern string) bool {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile("(?is)^" + b.String() + "$").MatchString(text)
}
