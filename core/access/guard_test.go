package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/identity"
)

func TestRoles(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	tests := []struct {
		name   string
		caller *identity.Caller
		right  access.Right
		want   string
	}{
		{"everything", documenttest.User(bob, "Reader"), access.Read, "one two three four"},
		{"only to read", documenttest.User(bob, "Reader"), access.Write, ""},
		{"one's own", documenttest.User(bob, "Owner"), access.Delete, "two three"},
		{"nothing", documenttest.User(bob), access.Read, ""},
		{"creating asks no owner", documenttest.User(bob, "Owner"), access.Create, "one two three four"},
		{"rules are OR-ed", documenttest.User(bob, "Owner", "Ruled"), access.Read, "one two three"},
		{"one without limits wins", documenttest.User(bob, "Owner", "Ruled", "Reader"), access.Read, "one two three four"},
		{"the Administrator", identity.Root(), access.Delete, "one two three four"},
		{"elevated", &identity.Caller{User: bob, Elevated: true}, access.Delete, "one two three four"},
		{"select is not read", documenttest.User(bob, "Finder"), access.Read, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { expectForms(t, s, test.caller, "Job", test.right, test.want) })
	}
}

func TestShares(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	for _, user := range []string{ann, bob} {
		s.Insert("User", fmt.Sprintf(`{"email": %q, "first_name": "X"}`, user))
	}
	s.Insert("DocShare", `{"user": "bob@example.com", "share_doctype": "Job", "share_name": "one", "read": 1}`)
	s.Insert("DocShare", `{"user": "bob@example.com", "share_doctype": "Job", "share_name": "four", "read": 1, "write": 1}`)
	s.Insert("DocShare", `{"user": "ann@example.com", "share_doctype": "Job", "share_name": "two", "read": 1}`)
	s.Insert("DocShare", `{"everyone": 1, "share_doctype": "Job", "share_name": "three", "read": 1}`)
	shared := func(c *identity.Caller) *identity.Caller {
		c.Shared = []string{"Job"}
		return c
	}
	tests := []struct {
		name   string
		caller *identity.Caller
		right  access.Right
		want   string
	}{
		{"without a role", shared(documenttest.User(bob)), access.Read, "one three four"},
		{"to write", shared(documenttest.User(bob)), access.Write, "four"},
		{"what cannot be shared", shared(documenttest.User(bob)), access.Delete, ""},
		{"beside one's own", shared(documenttest.User(bob, "Owner")), access.Read, "one two three four"},
		{"what User Permissions close", restricted(shared(documenttest.User(bob, "Reader")), identity.Restriction{Allow: "Job", Value: "two"}), access.Read, "one two three four"},
		{"a guest", shared(identity.Anonymous()), access.Read, ""},
		{"who has none", documenttest.User(bob), access.Read, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { expectForms(t, s, test.caller, "Job", test.right, test.want) })
	}
}

// extra decides about jobs: those of ann are everybody's, that of the firm Bolt
// nobody's.
type extra struct{ fails error }

func (extra) Covers(name string) bool { return name == "Job" }

func (b extra) Decide(_ context.Context, doc *doctype.Document, _ access.Right) (access.Verdict, error) {
	switch {
	case doc.Owner() == ann:
		return access.Allow, b.fails
	case doc.Text("firm") == "Bolt":
		return access.Refuse, b.fails
	}
	return access.Unsaid, b.fails
}

func (b extra) Seen(context.Context) (within, more doctype.Where, err error) {
	return nil, nil, b.fails
}

func TestExtraAccess(t *testing.T) {
	s := world(t, `[["n","=",3]]`)
	failure := errors.New("away")
	tests := []struct {
		name   string
		roles  []string
		fails  error
		want   string
		errors bool
	}{
		{"decides before roles", []string{"Ruled"}, nil, "one three", false},
		{"lets in nobody without any", nil, nil, "", false},
		{"fails", []string{"Ruled"}, failure, "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			err := s.Ask(documenttest.User(bob, test.roles...), func(r *access.Rights, tx document.Tx) error {
				r.Extra = extra{test.fails}
				for _, name := range []string{"one", "two", "three", "four"} {
					doc, err := tx.Get(t.Context(), r.Schema, r.Schema.DocType("Job"), name, false)
					if err != nil {
						return err
					}
					if err := r.Demand(t.Context(), doc, access.Read); err == nil {
						got = append(got, name)
					} else if errors.Is(err, failure) {
						return err
					}
				}
				return nil
			})
			if strings.Join(got, " ") != test.want || (err != nil) != test.errors {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
