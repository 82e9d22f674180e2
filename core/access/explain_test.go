package access_test

import (
	"slices"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/identity"
)

func TestExplain(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	tests := []struct {
		name    string
		caller  *identity.Caller
		doc     string
		right   access.Right
		allowed bool
		says    []string
	}{
		{"without a document", documenttest.User(bob, "Ruled"), "", access.Read, true, []string{`role Ruled gives read on documents that meet [["n","=",1]]`, "role Reader has read; the user does not have the role"}},
		{"the rule that decides", documenttest.User(bob, "Owner", "Ruled"), "one", access.Read, true, []string{`the document meets the rule of role Ruled on documents that meet [["n","=",1]]`}},
		{"the owner's", documenttest.User(bob, "Owner", "Ruled"), "two", access.Read, true, []string{"the document meets the rule of role Owner on documents the user owns"}},
		{"none", documenttest.User(bob, "Ruled"), "two", access.Read, false, []string{"the document meets none of these rules"}},
		{"a rule without limits", documenttest.User(bob, "Reader"), "two", access.Read, true, []string{"the document meets these rules"}},
		{"no role", documenttest.User(bob), "two", access.Read, false, []string{"no role of the user gives read on Job"}},
		{"the Administrator", identity.Root(), "two", access.Delete, true, []string{"passes every check"}},
		{"no document", documenttest.User(bob, "Reader"), "nine", access.Read, false, []string{"Job nine does not exist"}},
		{"User Permissions", restricted(documenttest.User(bob, "Reader"), identity.Restriction{Allow: "Firm", Value: "Acme"}), "two", access.Read, false,
			[]string{"User Permissions allow only [Acme] in firm"}},
	}
	for _, test := range tests {
		ask(t, s, test.caller, func(r *access.Rights, tx document.Tx) error {
			dt := r.Schema.DocType("Job")
			x, err := r.Explain(t.Context(), dt, test.doc, test.right, func() (*doctype.Document, error) { return tx.Get(t.Context(), r.Schema, dt, test.doc, false) })
			if err != nil {
				return err
			}
			all := strings.Join(x.Because, "\n")
			for _, says := range test.says {
				if !strings.Contains(all, says) {
					t.Errorf("%s: it does not say %q:\n%s", test.name, says, all)
				}
			}
			if x.Allowed != test.allowed {
				t.Errorf("%s: allowed %v:\n%s", test.name, x.Allowed, all)
			}
			return nil
		})
	}
}

func TestRightsOfOne(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	for name, want := range map[string][]string{"one": {"read", "write", "create"}, "two": {"create", "delete", "read", "write"}, "four": {"create"}} {
		ask(t, s, documenttest.User(bob, "Owner", "Ruled"), func(r *access.Rights, tx document.Tx) error {
			doc, err := tx.Get(t.Context(), r.Schema, r.Schema.DocType("Job"), name, false)
			if err != nil {
				return err
			}
			rights, err := r.Of(t.Context(), doc)
			var got []string
			for right, on := range rights {
				if on == 1 {
					got = append(got, right)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || len(rights) != len(doctype.RightNames()) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			return err
		})
	}
}
