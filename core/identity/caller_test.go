package identity_test

import (
	"slices"
	"testing"

	"armature/core/identity"
	"armature/core/scope"
)

func TestRestricted(t *testing.T) {
	c := &identity.Caller{Restrictions: []identity.Restriction{
		{Allow: "Area", Value: "a"}, {Allow: "Item", Value: "b"}, {Allow: "Item", Value: "c", For: "Deal"}, {Allow: "Territory", Value: "d"}}}
	tests := []struct {
		allow string
		want  []string
	}{
		{"Area", []string{"a"}}, {"Item", []string{"b", "c"}}, {"Territory", []string{"d"}}, {"", nil}, {"Deal", nil}, {"Zone", nil},
	}
	for _, test := range tests {
		var got []string
		for _, r := range c.Restricted(test.allow) {
			got = append(got, r.Value)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.allow, got, test.want)
		}
	}
	if got := (&identity.Caller{}).Restricted("Area"); got != nil {
		t.Errorf("without any: %v", got)
	}
}

func TestRoles(t *testing.T) {
	root, guest := identity.Root(), identity.Anonymous()
	clerk := &identity.Caller{User: "clerk@example.com", Roles: []string{"Clerk", identity.All}}
	elevated := &identity.Caller{User: "clerk@example.com", Elevated: true}
	tests := []struct {
		name                            string
		caller                          *identity.Caller
		guest, admin, unchecked, narrow bool
		clerk, all                      bool
	}{
		{"root", root, false, true, true, false, true, true},
		{"guest", guest, true, false, false, false, false, false},
		{"clerk", clerk, false, false, false, false, true, true},
		{"elevated", elevated, false, false, true, false, false, false},
	}
	for _, test := range tests {
		c := test.caller
		if c.IsGuest() != test.guest || c.IsAdministrator() != test.admin || c.Unchecked() != test.unchecked || c.Narrowed() != test.narrow {
			t.Errorf("%s: guest %v, Administrator %v, unchecked %v, narrowed %v", test.name, c.IsGuest(), c.IsAdministrator(), c.Unchecked(), c.Narrowed())
		}
		if c.HasRole("Clerk") != test.clerk || c.HasRole(identity.All) != test.all {
			t.Errorf("%s: Clerk %v, All %v", test.name, c.HasRole("Clerk"), c.HasRole(identity.All))
		}
	}
}

// A token and the plugin in whose frame a caller acts both have to allow what is
// done, and a frame in place of another leaves the token as it is.
func TestNarrowing(t *testing.T) {
	token, frame, own := scope.Token("resource:ToDo:read"), set(t, "resource:ToDo:write"), set(t, "resource:*:read")
	plain := &identity.Caller{User: "clerk@example.com"}
	tests := []struct {
		name    string
		caller  *identity.Caller
		doctype string
		right   scope.Right
		refuses *scope.Set
	}{
		{"nothing narrows", plain, "ToDo", scope.Delete, nil},
		{"the token allows it", &identity.Caller{Scopes: []*scope.Set{token}}, "ToDo", scope.Read, nil},
		{"the token does not", &identity.Caller{Scopes: []*scope.Set{token}}, "ToDo", scope.Update, token},
		{"one of two tokens does not", &identity.Caller{Scopes: []*scope.Set{frame, token}}, "ToDo", scope.Update, token},
		{"the frame allows it", plain.In(frame), "ToDo", scope.Update, nil},
		{"the frame does not", plain.In(frame), "Note", scope.Read, frame},
		{"the frame allows it, the token does not", (&identity.Caller{Scopes: []*scope.Set{token}}).In(frame), "ToDo", scope.Update, token},
		{"another frame takes its place", plain.In(frame).In(own), "Note", scope.Read, nil},
		{"outside of all again", plain.In(frame).In(nil), "Note", scope.Delete, nil},
	}
	for _, test := range tests {
		if got := test.caller.Document(test.doctype, "", false, test.right); got != test.refuses {
			t.Errorf("%s: %v, want %v", test.name, got, test.refuses)
		}
		if want := test.caller.Scopes != nil || test.caller.Frame != nil; test.caller.Narrowed() != want {
			t.Errorf("%s: narrowed %v", test.name, !want)
		}
	}
	if in := plain.In(nil); in != plain {
		t.Error("a caller in the frame it is in is another")
	}
	if got := plain.In(set(t, "resource:*:write")).Document("User", "", true, scope.Read); got == nil {
		t.Error("a wildcard reaches a DocType of the platform")
	}
}

func TestPlatform(t *testing.T) {
	plain := &identity.Caller{}
	if !plain.Platform() || plain.In(set(t, "resource:*:write")).Platform() || !plain.In(set(t, "platform")).Platform() {
		t.Error("who may set what decides who may do what: all outside of a plugin, and in one who is granted it by name")
	}
	open := &identity.Caller{Scopes: []*scope.Set{scope.Token("openid", "resource:*:read")}}
	if plain.Holds("openid") || !open.Holds("openid") || open.Holds("email") {
		t.Error("a scope that is not named is held")
	}
}

// set is what a plugin is granted.
func set(t *testing.T, texts ...string) *scope.Set {
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
