package grant_test

import (
	"slices"
	"testing"

	"armature/core/fault"
	"armature/core/scope"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// imported are the imports of a module.
func imported(names ...string) []engine.ImportName {
	var all []engine.ImportName
	for _, name := range names {
		all = append(all, engine.ImportName{Module: "armature1", Name: name})
	}
	return all
}

// TestNamesOfImports: an older manifest asks for wildcards, which leave out the
// platform.
func TestNamesOfImports(t *testing.T) {
	m := &manifest.Manifest{
		Name: "acme.todo", Grants: []string{"doc_get", "http_fetch", "elevated", "enqueue"},
		AllowedHosts: []string{"b.example", "a.example"},
	}
	asked := grant.Asked(m, imported("doc_get", "http_fetch", "input", "caller_get", "doc_list"))
	// enqueue is not imported, doc_list is not in the manifest.
	want := []string{"elevated", "http_fetch", "http_fetch:a.example", "http_fetch:b.example", "resource:*:read"}
	if !slices.Equal(asked, want) {
		t.Fatalf("asked %v, want %v", asked, want)
	}
	given := func(approved []string, operator bool) grant.Given { return grant.Give(m, asked, approved, operator) }
	if g := given(nil, false); len(g.Hosts) != 0 || g.Frame.Document("ToDo", false, scope.Read) || len(g.Missing) != 5 {
		t.Errorf("without approval: %+v", g)
	}
	g := given(nil, true)
	if !g.Frame.Document("ToDo", false, scope.Read) || g.Frame.Document("User", true, scope.Read) || g.Frame.Document("ToDo", false, scope.Create) {
		t.Errorf("in a folder: %+v", g)
	}
	if g.Grants.Has(hostapi.Grant("http_fetch")) || g.Grants.Has(hostapi.Elevated) || len(g.Missing) != 4 {
		t.Errorf("in a folder: %+v", g)
	}
	approved, err := grant.Approve(asked, nil, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if g := given(approved, false); !g.Grants.Has(hostapi.Grant("doc_get", "http_fetch")) || len(g.Hosts) != 2 || g.Powerful {
		t.Errorf("all approved: %+v", g)
	}
	if w := grant.Waiting(asked, approved, false); !slices.Equal(w, []string{"elevated"}) {
		t.Errorf("waiting %v", w)
	}
	if approved, err = grant.Approve(asked, approved, []string{"elevated"}, false); err != nil || !given(approved, false).Powerful {
		t.Errorf("elevated by name: %v, %v", approved, err)
	}
	one, err := grant.Approve(asked, nil, []string{"http_fetch:a.example", "doc_get"}, false)
	if g := given(one, false); err != nil || !slices.Equal(g.Hosts, []string{"a.example"}) || !g.Grants.Has(hostapi.Grant("http_fetch")) || !slices.Contains(one, "resource:*:read") {
		t.Errorf("one host: %+v, %v", g, err)
	}
	if _, err := grant.Approve(asked, nil, []string{"kv_get"}, false); fault.KindOf(err) != fault.Validation {
		t.Errorf("error %v", err)
	}
	if _, err := grant.Revoke(asked, one, []string{"elevated"}); fault.KindOf(err) != fault.Validation {
		t.Errorf("revoked what was never approved: %v", err)
	}
}

// TestTiers: what is the plugin's own is not asked for; what is the platform's is
// approved by name alone, wherever the plugin lies.
func TestTiers(t *testing.T) {
	const text = `{"name": "acme.shop", "version": "1", "abi": 1,
	 "grants": ["resource:Shop Order:write", "resource:Customer:read", "resource:User:read", "method:acme.shop.total", "method:framework.client.insert",
	   "method:framework.core.doctype.user.user.generate_keys", "method:*", "kv"],
	 "optional_grants": ["resource:Note:create"],
	 "events": {"Shop Order.validate": {"export": "own", "sets": ["total"]}, "Customer.validate": {"export": "other", "sets": ["status"]}, "User.validate": "all"},
	 "doctypes": [{"name": "Shop Order", "fields": [{"fieldname": "customer", "fieldtype": "Link", "options": "Customer"},
	    {"fieldname": "region", "fieldtype": "Data", "fetch_from": "customer.region"},
	    {"fieldname": "who", "fieldtype": "Link", "options": "User"}, {"fieldname": "roles", "fieldtype": "Table", "options": "Has Role"}],
	   "permissions": [{"role": "Guest"}]}]}`
	m, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	asked := grant.Asked(m, nil)
	want := []string{
		"event:Customer.validate", "event:User.validate", "method:*", "method:framework.client.insert",
		"method:framework.core.doctype.user.user.generate_keys", "public:Shop Order", "resource:Customer:read", "resource:Has Role:write",
		"resource:Note:create", "resource:User:read", "sets:Customer.validate:status", "sets:User.validate:*",
	}
	if !slices.Equal(asked, want) {
		t.Fatalf("asked\n%q, want\n%q", asked, want)
	}
	platform := []string{
		"event:User.validate", "method:framework.core.doctype.user.user.generate_keys", "resource:Has Role:write", "resource:User:read", "sets:User.validate:*",
	}
	if got := grant.Waiting(asked, nil, true); !slices.Equal(got, platform) {
		t.Errorf("waiting in a folder %q", got)
	}
	approved, err := grant.Approve(asked, nil, nil, false)
	if got := grant.Waiting(asked, approved, false); err != nil || !slices.Equal(got, platform) {
		t.Errorf("waiting after approving what is not named: %q, %v", got, err)
	}
	approved, err = grant.Approve(asked, approved, platform[:4], false)
	g := grant.Give(m, asked, approved, false)
	if err != nil || len(g.Missing) != 0 || !g.Powerful {
		t.Errorf("all approved: %+v, %v", g, err)
	}
	for _, h := range m.Handlers() {
		if !g.Heard(m, h) {
			t.Errorf("%s.%s is not heard", h.DocType, h.Event)
		}
	}
	left, err := grant.Revoke(asked, approved, []string{"event:Customer.validate"})
	if g := grant.Give(m, asked, left, false); err != nil || !slices.Equal(g.Missing, []string{"event:Customer.validate", "sets:Customer.validate:status"}) {
		t.Errorf("after a revocation %q, %v", g.Missing, err)
	}
	for i, text := range grant.InWords(asked) {
		if text == asked[i] || text == "" {
			t.Errorf("%s has no words", asked[i])
		}
	}
}
