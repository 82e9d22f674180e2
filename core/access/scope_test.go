package access_test

import (
	"errors"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
)

func grants(t testing.TB, texts ...string) *scope.Set {
	t.Helper()
	var given []scope.Scope
	for _, text := range texts {
		sc, err := scope.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, sc)
	}
	return scope.Grants("acme", given...)
}

// A token and a plugin narrow everybody, whatever their roles; the fault says what
// is missing.
func TestScopes(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	token := func(scopes ...string) *identity.Caller {
		c := identity.Root()
		c.Scopes = []*scope.Set{scope.Token(scopes...)}
		return c
	}
	tests := []struct {
		name     string
		caller   *identity.Caller
		typeName string
		right    access.Right
		needs    string // the scope that is missing; "plugin" for one of its grants; empty: none is
	}{
		{"nothing narrows", identity.Root(), "Job", access.Delete, ""},
		{"read", token("resource:Job:read"), "Job", access.Read, ""},
		{"reports are reading", token("resource:Job:read"), "Job", access.Report, ""},
		{"write is more", token("resource:Job:read"), "Job", access.Write, "resource:Job:write"},
		{"deleting is writing", token("resource:Job:write"), "Job", access.Delete, ""},
		{"another DocType", token("resource:Job:read"), "Firm", access.Read, "resource:Firm:read"},
		{"submitting", token("resource:Job:submit"), "Job", access.Cancel, ""},
		{"only creating", token("resource:Job:create"), "Job", access.Create, ""},
		{"sharing is writing", token("resource:Job:update"), "Job", access.Share, "resource:Job:write"},
		{"a wildcard", token("resource:*:read"), "Job", access.Read, ""},
		{"a plugin", identity.Root().In(grants(t, "resource:Job:read")), "Job", access.Read, ""},
		{"which is given less", identity.Root().In(grants(t, "resource:Job:read")), "Job", access.Write, "plugin"},
		{"a plugin's wildcard stops before the platform", identity.Root().In(grants(t, "resource:*:write")), "User", access.Read, "plugin"},
		{"by name it does not", identity.Root().In(grants(t, "resource:User:read")), "User", access.Read, ""},
	}
	for _, test := range tests {
		ask(t, s, test.caller, func(r *access.Rights, _ document.Tx) error {
			r.Protection = map[string]access.Protection{"User": {Platform: true}}
			dt := r.Schema.DocType(test.typeName)
			err := r.InScope(dt, test.right)
			var scoped interface{ NeededScope() string }
			switch {
			case test.needs == "":
				if err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
			case test.needs == "plugin":
				if fault.KindOf(err) != fault.Permission || !strings.Contains(err.Error(), "acme") {
					t.Errorf("%s: %v", test.name, err)
				}
			case !errors.As(err, &scoped) || scoped.NeededScope() != test.needs:
				t.Errorf("%s: %v, want one that needs %s", test.name, err, test.needs)
			}
			if _, guarded := r.Guard(t.Context(), dt, test.right); (guarded == nil) != (test.needs == "") {
				t.Errorf("%s: the guard says %v", test.name, guarded)
			}
			if test.needs != "" {
				x, err := r.Explain(t.Context(), dt, "", test.right, nil)
				if err != nil || x.Allowed || !strings.Contains(strings.Join(x.Because, " "), "scopes do not reach") {
					t.Errorf("%s: explained as %+v, %v", test.name, x, err)
				}
			}
			return nil
		})
	}
}

// What may be done to some document at least.
func TestSome(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	sc := s.Documents.Schema()
	job := sc.DocType("Job")
	token := documenttest.User(bob, "Reader")
	token.Scopes = []*scope.Set{scope.Token("resource:Firm:read")}
	shared := documenttest.User(bob)
	shared.Shared = []string{"Job"}
	for i, test := range []struct {
		caller *identity.Caller
		right  access.Right
		want   bool
	}{
		{documenttest.User(bob, "Reader"), access.Read, true}, {documenttest.User(bob, "Reader"), access.Write, false},
		{documenttest.User(bob, "Ruled"), access.Write, true}, {token, access.Read, false}, {shared, access.Read, true}, {shared, access.Write, false},
	} {
		if got := access.Reaches(test.caller, job, test.right); got != test.want {
			t.Errorf("%d: reaches %v", i, got)
		}
	}
	for i, test := range []struct {
		caller   *identity.Caller
		typeName string
		right    scope.Right
		want     bool
	}{
		{documenttest.User(bob, "Reader"), "Job", scope.Read, true}, {documenttest.User(bob, "Reader"), "Job", scope.Read | scope.Update, false},
		{documenttest.User(bob, "Owner"), "Job", scope.Read | scope.Create | scope.Update | scope.Delete, true},
		{documenttest.User(bob, "Owner"), "Job", scope.Write, false}, // no submit
		{documenttest.User(bob, "Owner"), "Firm", scope.Read | scope.Update | scope.Submit, true},
		{documenttest.User(bob), "Part", scope.Write, true}, {identity.Root(), "Job", scope.Write, true}, {identity.Root(), "None", scope.Read, false},
	} {
		if got := access.MaySome(test.caller, sc.DocType(test.typeName), test.right); got != test.want {
			t.Errorf("%d: may %v", i, got)
		}
	}
}
