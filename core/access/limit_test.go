package access_test

import (
	"fmt"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/identity"
	"armature/core/query"
)

func TestUserPermissions(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	reader := documenttest.User(bob, "Reader")
	tests := []struct {
		name string
		all  []identity.Restriction
		want string
	}{
		{"a link", []identity.Restriction{{Allow: "Firm", Value: "Acme"}}, "one four"},
		{"two values", []identity.Restriction{{Allow: "Firm", Value: "Acme"}, {Allow: "Firm", Value: "Bolt"}}, "one two four"},
		{"two links", []identity.Restriction{{Allow: "Area", Value: "Japan"}, {Allow: "Firm", Value: "Acme"}}, "four"},
		{"the documents themselves", []identity.Restriction{{Allow: "Job", Value: "two"}}, "two"},
		{"another DocType", []identity.Restriction{{Allow: "Firm", Value: "Acme", For: "ToDo"}}, "one two three four"},
		{"this DocType", []identity.Restriction{{Allow: "Firm", Value: "Acme", For: "Job"}}, "one four"},
		{"what is below a node", []identity.Restriction{{Allow: "Area", Value: "Earth"}}, "one two three four"},
		{"what is below another", []identity.Restriction{{Allow: "Area", Value: "Europe"}}, "one four"},
		{"a node alone", []identity.Restriction{{Allow: "Area", Value: "Earth", HideDescendants: true}}, "three four"},
		{"what there is not", []identity.Restriction{{Allow: "Thing", Value: "x"}}, "one two three four"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectForms(t, s, restricted(reader, test.all...), "Job", access.Read, test.want)
		})
	}
}

// Many values are looked up where they are stored.
func TestManyUserPermissions(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	s.Insert("User", `{"email": "bob@example.com", "first_name": "Bob"}`)
	c := documenttest.User(bob, "Reader")
	for n := range 60 {
		firm := fmt.Sprintf("Firm %d", n)
		if n == 30 {
			firm = "Acme"
		} else {
			s.Insert("Firm", fmt.Sprintf(`{"name": %q}`, firm))
		}
		s.Insert("User Permission", fmt.Sprintf(`{"user": %q, "allow": "Firm", "for_value": %q, "apply_to_all_doctypes": 1}`, bob, firm))
		c.Restrictions = append(c.Restrictions, identity.Restriction{Allow: "Firm", Value: firm})
	}
	expectForms(t, s, c, "Job", access.Read, "one four")
	err := s.Ask(c, func(r *access.Rights, tx document.Tx) error {
		x, err := r.Explain(t.Context(), r.Schema.DocType("Job"), "", access.Read, nil)
		if err == nil && !strings.Contains(strings.Join(x.Because, "\n"), "Firm 59") {
			t.Errorf("%v", x.Because)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Links of a new document are filled from User Permissions: the only one there is,
// or the one that is marked.
func TestDefaults(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	s.Insert("User", `{"email": "bob@example.com", "first_name": "Bob"}`)
	s.Insert("User Permission", `{"user": "bob@example.com", "allow": "Area", "for_value": "Asia", "apply_to_all_doctypes": 1}`)
	s.Insert("User Permission", `{"user": "bob@example.com", "allow": "Area", "for_value": "Japan", "apply_to_all_doctypes": 0, "applicable_for": "Job", "is_default": 1}`)
	all := []identity.Restriction{{Allow: "Area", Value: "Asia"}, {Allow: "Area", Value: "Japan", For: "Job"}, {Allow: "Firm", Value: "Bolt"}}
	tests := []struct {
		name             string
		caller           *identity.Caller
		set              string
		firm, area, open string
	}{
		{"the only one, and the marked one", restricted(documenttest.User(bob), all...), "", "Bolt", "Japan", ""},
		{"what is set stays", restricted(documenttest.User(bob), all...), "Acme", "Acme", "Japan", ""},
		{"none", documenttest.User(bob), "", "", "", ""},
		{"the platform", &identity.Caller{User: bob, Elevated: true, Restrictions: all}, "", "", "", ""},
	}
	for _, test := range tests {
		ask(t, s, test.caller, func(r *access.Rights, _ document.Tx) error {
			doc := doctype.NewDocument(r.Schema.DocType("Job"))
			if test.set != "" {
				doc.Put("firm", test.set)
			}
			err := r.Defaults(t.Context(), doc)
			if doc.Text("firm") != test.firm || doc.Text("area") != test.area || doc.Text("other") != test.open {
				t.Errorf("%s: %q, %q, %q", test.name, doc.Text("firm"), doc.Text("area"), doc.Text("other"))
			}
			return err
		})
	}
}

// Many nodes are looked up where they are stored, and so are those that cover what
// is below them.
func TestManyNodes(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	s.Insert("User", `{"email": "bob@example.com", "first_name": "Bob"}`)
	c := documenttest.User(bob, "Reader")
	for n := range 60 {
		area, hide := fmt.Sprintf("Area %d", n), n%2 == 0
		switch n {
		case 30:
			area, hide = "Europe", false // covers France
		case 40:
			area, hide = "Asia", true // and this not Japan
		default:
			s.Insert("Area", fmt.Sprintf(`{"name": %q}`, area))
		}
		s.Insert("User Permission", fmt.Sprintf(`{"user": %q, "allow": "Area", "for_value": %q, "apply_to_all_doctypes": 1, "hide_descendants": %d}`, bob, area, map[bool]int{true: 1}[hide]))
		c.Restrictions = append(c.Restrictions, identity.Restriction{Allow: "Area", Value: area, HideDescendants: hide})
	}
	expectForms(t, s, c, "Job", access.Read, "one four")
	expectForms(t, s, restricted(c, identity.Restriction{Allow: "Area", Value: "Asia"}), "Area", access.Read, "Asia Japan")
}

// What stands below nodes, and what does not, are all documents together; one
// without a node is not below any.
func TestBelow(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	ask(t, s, identity.Root(), func(r *access.Rights, tx document.Tx) error {
		job, area := r.Schema.DocType("Job"), r.Schema.DocType("Area")
		for node, want := range map[string]int64{"Earth": 2, "Asia": 1, "Japan": 0, "Nowhere": 0} {
			some := doctype.Some{Of: doctype.Operand{Field: job.Field("area")}, Target: area, Key: area.Field("name"), Below: area.ParentLink(),
				Where: doctype.Compare{Operand: doctype.Operand{Field: area.ParentLink()}, Op: query.Eq, Value: node}}
			n, err := tx.Count(t.Context(), &doctype.Select{DocType: job, Where: some})
			if err != nil {
				return err
			}
			some.Not = true
			others, err := tx.Count(t.Context(), &doctype.Select{DocType: job, Where: some})
			if err != nil {
				return err
			}
			if n != want || n+others != 4 {
				t.Errorf("below %s: %d, not below it: %d", node, n, others)
			}
		}
		return nil
	})
}
