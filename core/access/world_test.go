package access_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
)

// The rule that a case is about stands in place of CONDITION.
var definitions = []string{
	documenttest.Definition("Area", `"is_tree": 1`, []string{`"fieldname": "n", "fieldtype": "Int"`}, []string{`"role": "Reader", "read": 1`, `"role": "Namer", "select": 1, "read": 0`, `"role": "Half", "read": 1, "condition": "[[\"n\",\"<\",3]]"`}),
	documenttest.Definition("Firm", "", []string{
		`"fieldname": "login", "fieldtype": "Data"`, `"fieldname": "area", "fieldtype": "Link", "options": "Area"`, `"fieldname": "n", "fieldtype": "Int", "permlevel": 1`,
	}, []string{`"role": "Reader", "read": 1`, `"role": "Owner", "read": 1, "write": 1, "if_owner": 1`}),
	documenttest.Definition("Part", `"istable": 1`, []string{
		`"fieldname": "q", "fieldtype": "Int"`, `"fieldname": "cost", "fieldtype": "Float", "permlevel": 1`, `"fieldname": "firm", "fieldtype": "Link", "options": "Firm"`,
	}, nil),
	documenttest.Definition("Job", `"title_field": "t", "search_fields": "t", "is_submittable": 1`, []string{
		`"fieldname": "t", "fieldtype": "Data"`, `"fieldname": "n", "fieldtype": "Int"`, `"fieldname": "f", "fieldtype": "Float"`,
		`"fieldname": "d", "fieldtype": "Date"`, `"fieldname": "at", "fieldtype": "Datetime"`, `"fieldname": "done", "fieldtype": "Check"`,
		`"fieldname": "firm", "fieldtype": "Link", "options": "Firm"`, `"fieldname": "area", "fieldtype": "Link", "options": "Area"`,
		`"fieldname": "other", "fieldtype": "Link", "options": "Firm", "ignore_user_permissions": 1`,
		`"fieldname": "secret", "fieldtype": "Data", "permlevel": 1`, `"fieldname": "pass", "fieldtype": "Password"`,
		`"fieldname": "parts", "fieldtype": "Table", "options": "Part"`, `"fieldname": "hidden", "fieldtype": "Table", "options": "Part", "permlevel": 1`,
	}, []string{
		`"role": "Reader", "read": 1`, `"role": "Level", "read": 1`, `"role": "Level", "read": 1, "permlevel": 1`,
		`"role": "Owner", "read": 1, "write": 1, "create": 1, "delete": 1, "if_owner": 1`,
		`"role": "Finder", "select": 1, "read": 0`,
		`"role": "Ruled", "read": 1, "write": 1, "create": 1, "condition": "CONDITION"`,
		`"role": "Writer", "read": 1, "write": 1, "create": 1, "submit": 1`,
	}),
}

const ann, bob = "ann@example.com", "bob@example.com"

// world has jobs of firms in a tree of areas, with a rule for the role Ruled.
func world(t testing.TB, condition string) *documenttest.Site {
	t.Helper()
	all := slices.Clone(definitions)
	last := len(all) - 1
	all[last] = strings.ReplaceAll(all[last], "CONDITION", strings.ReplaceAll(condition, `"`, `\"`))
	s := documenttest.New(t, document.ServiceConfig{}, all...)
	for i, node := range []string{"Earth", "Europe", "France", "Asia", "Japan"} {
		up := []string{"", "Earth", "Europe", "Earth", "Asia"}[i]
		s.Insert("Area", fmt.Sprintf(`{"name": %q, "n": %d, "parent_area": %q}`, node, i, up))
	}
	s.Owned(ann, "Firm", `{"name": "Acme", "login": "ann@example.com", "area": "France", "n": 1}`)
	s.Owned(bob, "Firm", `{"name": "Bolt", "login": "bob@example.com", "area": "Japan", "n": 2}`)
	s.Insert("Firm", `{"name": "Core"}`)
	s.Owned(ann, "Job", `{"name": "one", "t": "a%b", "n": 1, "f": 1.5, "d": "2026-03-14", "at": "2026-03-14 12:00:00", "done": 1, "firm": "Acme", "area": "France",
		"other": "Bolt", "secret": "x", "parts": [{"q": 1, "cost": 2.5, "firm": "Acme"}, {"q": 5, "cost": 1}], "hidden": [{"q": 9}]}`)
	s.Owned(bob, "Job", `{"name": "two", "t": "AxB", "n": 2, "f": 2.5, "d": "2026-02-01", "firm": "Bolt", "area": "Japan", "parts": [{"q": 2, "firm": "Bolt"}]}`)
	s.Owned(bob, "Job", `{"name": "three", "n": 3, "firm": "Core", "area": "Earth"}`)
	s.Insert("Job", `{"name": "four", "t": "bob@example.com", "d": "2027-01-01", "at": "2027-01-01 00:00:00"}`)
	return s
}

// forms are the documents that the three forms of a guard let pass: the condition
// of a list, the check of each document, and the explanation of it.
func forms(t testing.TB, s *documenttest.Site, caller *identity.Caller, typeName string, right access.Right) (by [3][]string) {
	t.Helper()
	ctx := t.Context()
	err := s.Ask(caller, func(r *access.Rights, tx document.Tx) error {
		dt := r.Schema.DocType(typeName)
		all := &doctype.Select{DocType: dt, Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
			Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}}}}
		var names []string
		read := func(into *[]string) error {
			return tx.Rows(ctx, all, func(v []any) error { *into = append(*into, v[0].(string)); return nil })
		}
		if err := read(&names); err != nil {
			return err
		}
		g, err := r.Guard(ctx, dt, right)
		if err == nil {
			where, err := g.Where(ctx)
			if err != nil {
				return err
			}
			if all.Where = where; g.Open() != (where == nil) {
				t.Errorf("an open guard has the condition %v", where)
			}
			if err := read(&by[0]); err != nil {
				return err
			}
		} else if fault.KindOf(err) != fault.Permission {
			return err
		}
		for _, name := range names {
			doc, err := tx.Get(ctx, r.Schema, dt, name, false)
			if err != nil {
				return err
			}
			switch err := r.Demand(ctx, doc, right); {
			case err == nil:
				by[1] = append(by[1], name)
			case fault.KindOf(err) != fault.Permission:
				return err
			}
			x, err := r.Explain(ctx, dt, name, right, func() (*doctype.Document, error) { return doc, nil })
			if err != nil {
				return err
			}
			if x.Allowed {
				by[2] = append(by[2], name)
			}
			if len(x.Because) == 0 {
				t.Errorf("%s: nothing explains it", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return by
}

func expectForms(t testing.TB, s *documenttest.Site, caller *identity.Caller, typeName string, right access.Right, want string) {
	t.Helper()
	for i, got := range forms(t, s, caller, typeName, right) {
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s by its %s: %q, want %q", caller.User, []string{"condition", "check", "explanation"}[i], text, want)
		}
	}
}

func restricted(caller *identity.Caller, all ...identity.Restriction) *identity.Caller {
	c := *caller
	c.Restrictions = all
	return &c
}

// ask runs fn with the rights of a caller.
func ask(t testing.TB, s *documenttest.Site, caller *identity.Caller, fn func(*access.Rights, document.Tx) error) {
	t.Helper()
	if err := s.Ask(caller, fn); err != nil {
		t.Fatal(err)
	}
}
