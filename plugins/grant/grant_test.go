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

func approve(asked, approved, names []string) ([]string, error) {
	d, err := grant.Decided{Approved: approved}.Approve(asked, names)
	return d.Approved, err
}

func revoke(asked, approved, names []string) ([]string, error) {
	d, err := grant.Decided{Approved: approved}.Revoke(asked, names)
	return d.Approved, err
}

// TestRevokedInFolder: what came with a folder is taken back, and stays so for
// versions that ask for less of the same, until somebody approves it.
func TestRevokedInFolder(t *testing.T) {
	asked := []string{"event:Customer.validate", "resource:*:read", "resource:User:read", "sets:Customer.validate:status"}
	d, err := grant.Decided{Operator: true}.Revoke(asked, []string{"resource:*:read", "event:Customer.validate"})
	if err != nil || !slices.Equal(d.Waiting(asked), asked) {
		t.Fatalf("revoked: %v, waiting %v, %v", d.Revoked, d.Waiting(asked), err)
	}
	if w := d.Waiting([]string{"resource:ToDo:create", "resource:ToDo:read"}); !slices.Equal(w, []string{"resource:ToDo:read"}) {
		t.Errorf("of the next version waits %v", w)
	}
	if _, err := d.Revoke(asked, []string{"resource:*:read"}); fault.KindOf(err) != fault.Validation {
		t.Errorf("revoked twice: %v", err)
	}
	if d, err = d.Approve(asked, []string{"resource:*:read"}); err != nil || slices.Contains(d.Waiting(asked), "resource:*:read") {
		t.Errorf("approved again: %+v, %v", d, err)
	}
	if d, err = d.Revoke(asked, nil); err != nil || len(d.Waiting(asked)) != len(asked) {
		t.Errorf("all revoked: %+v, %v", d, err)
	}
}

// TestWildcardsCover: who has approved all documents is not asked about some, the
// platform's aside.
func TestWildcardsCover(t *testing.T) {
	d := grant.Decided{Approved: []string{"resource:*:write", "method:acme.*", "sets:ToDo.validate:*", "event:*.validate", "resource:Role:write"}}
	for entry, waits := range map[string]bool{
		"resource:ToDo:read": false, "resource:User:read": true, "resource:Role:read": false, "method:acme.todo.close": false,
		"method:framework.share.add": true, "sets:ToDo.validate:status": false, "sets:ToDo.on_trash:status": true,
		"event:ToDo.validate": false, "event:User.validate": true, "elevated": true, "public:Page": true,
	} {
		if got := len(d.Waiting([]string{entry})) > 0; got != waits {
			t.Errorf("%s waits: %t", entry, got)
		}
	}
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
	given := func(approved []string, operator bool) grant.Given {
		return grant.Decided{Approved: approved, Operator: operator}.Give(m, asked)
	}
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
	approved, err := approve(asked, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g := given(approved, false); !g.Grants.Has(hostapi.Grant("doc_get", "http_fetch")) || len(g.Hosts) != 2 || g.Powerful {
		t.Errorf("all approved: %+v", g)
	}
	if w := (grant.Decided{Approved: approved, Operator: false}).Waiting(asked); !slices.Equal(w, []string{"elevated"}) {
		t.Errorf("waiting %v", w)
	}
	if approved, err = approve(asked, approved, []string{"elevated"}); err != nil || !given(approved, false).Powerful {
		t.Errorf("elevated by name: %v, %v", approved, err)
	}
	one, err := approve(asked, nil, []string{"http_fetch:a.example", "doc_get"})
	if g := given(one, false); err != nil || !slices.Equal(g.Hosts, []string{"a.example"}) || !g.Grants.Has(hostapi.Grant("http_fetch")) || !slices.Contains(one, "resource:*:read") {
		t.Errorf("one host: %+v, %v", g, err)
	}
	both, err := approve(asked, nil, []string{"http_fetch"})
	if g := given(both, false); err != nil || len(g.Hosts) != 2 || !g.Grants.Has(hostapi.Grant("http_fetch")) {
		t.Errorf("http_fetch approves the hosts that are asked for: %+v, %v", g, err)
	}
	none, err := revoke(asked, both, []string{"http_fetch"})
	if g := given(none, false); err != nil || len(g.Hosts) != 0 || g.Grants.Has(hostapi.Grant("http_fetch")) {
		t.Errorf("taking http_fetch back takes its hosts back: %+v, %v", g, err)
	}
	if _, err := approve(asked, nil, []string{"kv_get"}); fault.KindOf(err) != fault.Validation {
		t.Errorf("error %v", err)
	}
	if _, err := revoke(asked, one, []string{"elevated"}); fault.KindOf(err) != fault.Validation {
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
	if got := (grant.Decided{Approved: nil, Operator: true}).Waiting(asked); !slices.Equal(got, platform) {
		t.Errorf("waiting in a folder %q", got)
	}
	approved, err := approve(asked, nil, nil)
	if got := (grant.Decided{Approved: approved, Operator: false}).Waiting(asked); err != nil || !slices.Equal(got, platform) {
		t.Errorf("waiting after approving what is not named: %q, %v", got, err)
	}
	approved, err = approve(asked, approved, platform[:4])
	g := grant.Decided{Approved: approved}.Give(m, asked)
	if err != nil || len(g.Missing) != 0 || !g.Powerful {
		t.Errorf("all approved: %+v, %v", g, err)
	}
	for _, h := range m.Handlers() {
		if !g.Heard(m, h) {
			t.Errorf("%s.%s is not heard", h.DocType, h.Event)
		}
	}
	left, err := revoke(asked, approved, []string{"event:Customer.validate"})
	if g := (grant.Decided{Approved: left}).Give(m, asked); err != nil || !slices.Equal(g.Missing, []string{"event:Customer.validate", "sets:Customer.validate:status"}) {
		t.Errorf("after a revocation %q, %v", g.Missing, err)
	}
	for i, text := range grant.InWords(asked) {
		if text == asked[i] || text == "" {
			t.Errorf("%s has no words", asked[i])
		}
	}
}
