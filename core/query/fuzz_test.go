package query_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/query"
)

var (
	cleanName  = regexp.MustCompile(`^[A-Za-z0-9_]{1,140}$`)
	cleanTable = regexp.MustCompile(`^[\pL\pN_ -]{1,140}$`)
)

// FuzzParse: whatever the input, Parse returns a fault a client can act on or a
// query whose names are clean and which means the same when written out again.
func FuzzParse(f *testing.F) {
	f.Add(`["name"]`, `[["status","=","Open"]]`, `{"a":["like","b%"]}`, "modified desc", "owner", "5")
	f.Add("[\"`tabNote Seen By`.`user` as u\",{\"COUNT\":\"*\"}]", `["a","b"]`, `[[["a",1]],"or",["b","in","c,d"]]`, "1, 2 asc", "", "-1")
	f.Add(`["*"]`, `x`, `[["a","between",null]]`, "`a`.b", "`x`", "1e3")
	f.Fuzz(func(t *testing.T, fields, filters, or, order, group, limit string) {
		q, err := query.Parse(args{
			"fields": fields, "expand": fields, "filters": filters, "or_filters": or,
			"order_by": order, "group_by": group, "limit": limit,
		}.get)
		if err != nil {
			if fault.KindOf(err) != fault.Validation {
				t.Fatalf("not a validation fault: %v", err)
			}
			q, err = query.Parse(args{"filters": filters, "order_by": order}.get)
			if err != nil {
				return
			}
		}
		checkNames(t, q)
		again, err := query.Parse(args(render(q)).get)
		if err != nil {
			t.Fatalf("%v\nwritten out: %v", err, render(q))
		}
		if !reflect.DeepEqual(normal(again), normal(q)) {
			t.Fatalf("written out: %v\ngot  %#v\nwant %#v", render(q), again, q)
		}
	})
}

// normal flattens what nesting alone tells apart, and puts the empty alias of
// an aliased sort key aside.
func normal(q *query.Query) *query.Query {
	c := *q
	if c.Filter != nil {
		c.Filter = flat(c.Filter)
	}
	return &c
}

func flat(e query.Expr) query.Expr {
	switch e := e.(type) {
	case query.And:
		var out query.And
		for _, part := range e {
			if inner, ok := flat(part).(query.And); ok {
				out = append(out, inner...)
			} else {
				out = append(out, flat(part))
			}
		}
		return out
	case query.Or:
		var out query.Or
		for _, part := range e {
			if inner, ok := flat(part).(query.Or); ok {
				out = append(out, inner...)
			} else {
				out = append(out, flat(part))
			}
		}
		return out
	}
	return e
}

func checkNames(t *testing.T, q *query.Query) {
	t.Helper()
	check := func(r query.Ref) {
		if !cleanName.MatchString(r.Name) || r.Table != "" && (!cleanTable.MatchString(r.Table) || strings.TrimSpace(r.Table) != r.Table) {
			t.Fatalf("unclean name %q in %q", r.Name, r.Table)
		}
	}
	for _, f := range q.Fields {
		if !f.Star {
			check(f.Ref)
		}
		if f.Alias != "" {
			check(query.Ref{Name: f.Alias})
		}
	}
	for _, name := range q.Expand {
		check(query.Ref{Name: name})
	}
	for _, o := range q.Order {
		check(o.Ref)
	}
	for _, g := range q.Group {
		check(g)
	}
	var walk func(query.Expr)
	walk = func(e query.Expr) {
		switch e := e.(type) {
		case query.And:
			if len(e) < 2 {
				t.Fatalf("a list of %d", len(e))
			}
			for _, part := range e {
				walk(part)
			}
		case query.Or:
			if len(e) < 2 {
				t.Fatalf("a list of %d", len(e))
			}
			for _, part := range e {
				walk(part)
			}
		case query.Cond:
			check(e.Ref)
		}
	}
	if q.Filter != nil {
		walk(q.Filter)
	}
}
