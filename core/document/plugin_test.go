package document_test

import (
	"context"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/document"
	"armature/core/document/documenttest"
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

// A plugin does not set what decides who may do what, whoever calls it.
func TestProtection(t *testing.T) {
	c := document.ServiceConfig{Sealer: seal{}, Protection: map[string]access.Protection{
		"Guarded": {Platform: true, Fields: []string{"may", "lines"}}, "Wholly": {Fields: []string{access.AllFields}}}}
	s := documenttest.New(t, c, rowsOf("Line", "", "n|Int"), plain("Guarded", `"allow_rename": 1`, "may|Data", "t|Data", "pass|Password", "lines|Table|Line"), plain("Wholly", `"allow_rename": 1`, "t|Data", "pass|Password"))
	in := func(texts ...string) *identity.Caller { return identity.Root().In(grants(t, texts...)) }
	guarded, wholly := in("resource:Guarded:write", "resource:*:write"), in("resource:Wholly:write")
	for _, step := range []step{
		{does: "insert", what: "Guarded", values: `{"name": "a", "t": "x"}`, want: `"t":"x"`, as: guarded},
		{does: "insert", what: "Guarded", values: `{"name": "b", "may": "x"}`, want: "!may not set may", as: guarded},
		{does: "insert", what: "Guarded", values: `{"name": "b", "lines": [{"n": 1}]}`, want: "!may not set lines", as: guarded},
		{does: "update", what: "Guarded/a", values: `{"may": "x"}`, want: "!may not set may", as: guarded},
		{does: "update", what: "Guarded/a", values: `{"may": "x", "pass": "secret"}`, want: `"may":"x"`, as: in("resource:Guarded:write", "platform")},
		{does: "update", what: "Guarded/a", values: `{"t": "y", "may": "x"}`, want: `"t":"y"`, as: guarded},
		{does: "get", what: "Guarded/a", want: "!is not granted", as: in("resource:*:write")},
		{does: "insert", what: "Wholly", values: `{"name": "a"}`, want: "!may not change documents", as: wholly},
		{does: "insert", what: "Wholly", values: `{"name": "a", "t": "x", "pass": "word"}`, want: `"pass":"*`},
		{does: "update", what: "Wholly/a", values: `{"t": "y"}`, want: "!may not set t", as: wholly},
		{does: "delete", what: "Wholly/a", want: "!may not change documents", as: wholly},
		{does: "rename", what: "Wholly/a", values: "b", want: "!may not change documents", as: wholly},
		{does: "password", what: "Wholly/a", values: "pass", want: "word"},
		{does: "password", what: "Wholly/a", values: "pass", want: "word", as: in("resource:Wholly:read")},
		{does: "password", what: "Wholly/a", values: "pass", want: "!may not read the passwords", as: in("resource:*:read")},
		{does: "password", what: "Guarded/a", values: "pass", want: "!may not read the passwords", as: in("resource:Guarded:read")},
		{does: "password", what: "Wholly/a", values: "t", want: "!is no Password field"},
		{does: "password", what: "Wholly/a", values: "pass", want: "!Only a System Manager", as: clerk},
		{does: "update", what: "Wholly/a", values: `{"pass": "**********"}`, want: `"pass":"*`},
		{does: "password", what: "Wholly/a", values: "pass", want: "word"},
		{does: "update", what: "Wholly/a", values: `{"pass": ""}`, want: `"t":"x"`},
		{does: "password", what: "Wholly/a", values: "pass", want: "!has no password"},
	} {
		want, fails := strings.CutPrefix(step.want, "!")
		if got := step.run(t, s); fails != strings.HasPrefix(got, "!") || !strings.Contains(got, want) {
			t.Errorf("%s %s %s: %s, want %s", step.does, step.what, step.values, got, step.want)
		}
	}
	if !s.Documents.Platform("Guarded") || s.Documents.Platform("Wholly") || s.Documents.Platform("None") {
		t.Error("which DocTypes are the platform's")
	}
}

// A handler of a plugin sets what its manifest says.
func TestAssign(t *testing.T) {
	var events []string
	var may document.Settable
	var sets map[string]any
	var s *documenttest.Site
	refuse := false
	c := document.ServiceConfig{
		RefuseUnknown: func() bool { return refuse },
		Protection:    map[string]access.Protection{"Bill": {Fields: []string{"may"}, Decided: []string{"total"}}},
		Hooks: []document.Hooks{recorder{"Bill", true, "", &events, func(_ context.Context, ev *document.Event) error {
			if ev.Name != document.Validate {
				return nil
			}
			return s.Documents.Assign(ev, sets, may)
		}}},
	}
	s = documenttest.New(t, c, rowsOf("Line", "", "n|Int", "t|Data"), plain("Bill", "", "t|Data", "may|Data", "total|Int", "lines|Table|Line"))
	s.Insert("Bill", `{"name": "a", "lines": [{"n": 1}]}`)
	row := func(name string) string {
		var rows string
		_ = s.Do(identity.Root(), func(docs document.Acting) error {
			doc, err := docs.Get(t.Context(), "Bill", "a")
			rows = doc.Rows("lines")[0].Name()
			return err
		})
		return strings.ReplaceAll(name, "ROW", rows)
	}
	tests := []struct {
		name, sets, want string
		refuse           bool
		may              document.Settable
	}{
		{"what is declared", `{"t": "x"}`, `"t":"x"`, false, document.Settable{Fields: []string{"t"}}},
		{"what is not", `{"t": "y"}`, "!may not set t of Bill", false, document.Settable{Plugin: "acme"}},
		{"nothing new", `{"t": "x", "owner": "Administrator"}`, `"t":"x"`, false, document.Settable{}},
		{"everything", `{"t": "z", "lines": [{"n": 5}]}`, `"n":5`, false, document.Settable{Fields: []string{access.AllFields}}},
		{"what decides", `{"may": "x"}`, "!granted platform", false, document.Settable{Fields: []string{access.AllFields}}},
		{"granted", `{"may": "x"}`, `"may":"x"`, false, document.Settable{Fields: []string{"may"}, Platform: true}},
		{"what follows", `{"total": 5}`, "!follows from the rest", false, document.Settable{Fields: []string{"total"}}},
		{"the platform's", `{"owner": "somebody"}`, "!the platform does", false, document.Settable{Fields: []string{"t"}}},
		{"a field of rows", `{"lines": [{"name": "ROW", "n": 7}]}`, `"n":7`, false, document.Settable{Fields: []string{"lines.n"}}},
		{"another of rows", `{"lines": [{"name": "ROW", "t": "x"}]}`, "!may not set lines.t", false, document.Settable{Fields: []string{"lines.n"}}},
		{"more rows", `{"lines": []}`, "!may not set lines of", false, document.Settable{Fields: []string{"lines.n"}}},
		{"other rows", `{"lines": [{"n": 7}]}`, "!may not set lines of", false, document.Settable{Fields: []string{"lines.n"}}},
		{"all rows", `{"lines": [{"n": 8}, {"n": 9}]}`, `"n":9`, false, document.Settable{Fields: []string{"lines"}}},
		{"what there is not", `{"none": 1}`, "!has no field none", true, document.Settable{}},
		{"what cannot be", `{"total": "x"}`, "!must be a whole number", false, document.Settable{}},
	}
	for _, test := range tests {
		may, refuse = test.may, test.refuse
		sets = documenttest.Values(t, row(test.sets))
		want, fails := strings.CutPrefix(test.want, "!")
		got := step{does: "update", what: "Bill/a", values: `{}`}.run(t, s)
		if fails != strings.HasPrefix(got, "!") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
