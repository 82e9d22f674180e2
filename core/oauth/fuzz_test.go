package oauth

import (
	"net/url"
	"strings"
	"testing"

	"armature/core/scope"
)

// FuzzRedirect: whatever passes for a redirect URI, an answer that is appended to
// it goes to the same place, carries the parameters as they are, and cannot split
// the header it is sent in.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{
		"https://client.example/cb", "http://127.0.0.1:1/cb?a=1", "com.example.app:/cb", "https://a/?", "javascript:alert(1)",
		"https://a@b/", "https://a/#", "//a", "https://a/\r\nX: y", "HTTPS://A/%41?x=%zz",
	} {
		f.Add(seed, "state")
	}
	f.Fuzz(func(t *testing.T, uri, state string) {
		if badRedirect(uri) != "" {
			return
		}
		before, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		got := withParameters(uri, []pair{{"code", "c"}, {"state", state}})
		after, err := url.Parse(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if !strings.HasPrefix(got, uri) || after.Scheme != before.Scheme || after.Host != before.Host || after.EscapedPath() != before.EscapedPath() {
			t.Fatalf("%q became %q", uri, got)
		}
		if strings.ContainsAny(got, "\r\n \t\x00") || after.Fragment != "" {
			t.Fatalf("%q", got)
		}
		if q, err := url.ParseQuery(before.RawQuery); err != nil || q.Has("state") {
			return // its own query is no form, or takes the name itself
		}
		if q, err := url.ParseQuery(after.RawQuery); err != nil || q.Get("state") != state {
			t.Fatalf("state %q in %q: %v", state, got, err)
		}
	})
}

// FuzzScope: what covers something covers it whatever else is there, and nothing
// that is narrower covers what is wider.
func FuzzScope(f *testing.F) {
	f.Add("resource:ToDo:write", "resource:ToDo:read")
	f.Add("method:acme.*", "method:acme.todo.close")
	f.Add("all", "openid")
	f.Add("resource:*:read", "resource:a:b:read")
	f.Fuzz(func(t *testing.T, have, want string) {
		if !scope.Covered([]string{have}, want) {
			return
		}
		if !scope.Covered([]string{"x", have}, want) {
			t.Fatalf("%q covers %q alone", have, want)
		}
		if strings.HasSuffix(want, ":write") && strings.HasPrefix(want, "resource:") && strings.HasSuffix(have, ":read") && have != want {
			t.Fatalf("%q covers %q", have, want)
		}
		if have != want && !strings.HasPrefix(want, "resource:") && !strings.HasPrefix(want, "method:") {
			t.Fatalf("%q covers %q", have, want)
		}
		if want == "all" && have != "all" {
			t.Fatalf("%q covers all", have)
		}
	})
}
