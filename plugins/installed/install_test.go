package installed_test

import (
	"encoding/base64"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/plugins/installed"
	"armature/plugins/plugintest"
)

func TestInstall(t *testing.T) {
	p := newProcess(t)
	done := p.install(plugin(t, "1", nil, "kv_get"))
	if done["version"] != "1" || done["status"] != "Active" || done["pristine"] != true || done["replaces"] != nil {
		t.Errorf("installed %v", done)
	}
	p.serves("1")
	if v, err := p.call("POST", "acme.a.echo", m{"x": 1.0}); err != nil || v.(m)["x"] != 1.0 {
		t.Errorf("echo %v, %v", v, err)
	}
	if done := p.install(plugin(t, "2", nil, "kv_get")); done["replaces"] != "1" {
		t.Errorf("installed %v", done)
	}
	p.install(plugin(t, "2", nil, "kv_get")) // again, to no effect
	p.install(plugin(t, "3", nil, "kv_get"))
	p.serves("3")
	if v := p.record()["versions"].([]any); len(v) != 3 || v[0].(m)["version"] != "3" {
		t.Errorf("versions %v", v)
	}

	// Back, step by step, and forward again.
	p.manage("rollback", m{"plugin": "acme.a"})
	p.serves("2")
	p.manage("rollback", m{"plugin": "acme.a"})
	p.serves("1")
	p.refuses(fault.Validation, "framework.plugins.rollback", m{"plugin": "acme.a"})
	p.install(plugin(t, "3", nil, "kv_get"))
	p.serves("3")
	p.manage("rollback", m{"plugin": "acme.a"}) // to what served before, not to what was given up before that
	p.serves("1")
	p.install(plugin(t, "2", nil, "kv_get"))

	p.manage("disable", m{"plugin": "acme.a"})
	p.serves("")
	p.status(installed.Disabled)
	p.refuses(fault.Validation, "acme.a.echo", nil)
	p.manage("enable", m{"plugin": "acme.a"})
	p.serves("2")
	p.status(installed.Active)

	if err := p.kv.Set("acme.a", "k", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	p.manage("uninstall", m{"plugin": "acme.a"})
	p.serves("")
	if _, ok := p.kv.Get("acme.a", "k"); ok {
		t.Error("what it kept is there still")
	}
	p.refuses(fault.NotFound, "framework.plugins.rollback", m{"plugin": "acme.a"})
	p.refuses(fault.NotFound, "framework.plugins.list", m{"plugin": "acme.a"})
}

// TestDrafts: versions that follow each other while a plugin is written do not
// pile up, and what is to serve is kept whatever is said to be a draft.
func TestDrafts(t *testing.T) {
	p := newProcess(t)
	kept := func(want ...string) {
		t.Helper()
		var got []string
		for _, v := range p.record()["versions"].([]any) {
			got = append(got, v.(m)["version"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the versions are %q, want %q", got, want)
		}
	}
	first := p.install(plugin(t, "1", nil))
	done := p.install(plugin(t, "2", nil))
	if first["first"] != true || done["first"] != true {
		t.Errorf("installed %v, %v", first, done)
	}
	p.install(plugin(t, "3", nil), "draft", done["hash"])
	p.serves("3")
	kept("3", "1")
	if again := p.install(plugin(t, "1", nil), "draft", p.record()["hash"], "approve", "version:1"); again["first"] != false {
		t.Errorf("installed %v", again)
	}
	p.serves("1")
	kept("1")
	for _, draft := range []any{first["hash"], first["hash"].(string)[:16], first["hash"].(string)[:16] + "...", "x", ""} {
		p.install(plugin(t, "1", nil), "draft", draft)
		kept("1")
	}

	// One that waits does not take away what serves until then.
	more := m{"allowed_hosts": []any{"a.example"}}
	done = p.install(plugin(t, "2", more, "http_fetch"), "draft", first["hash"])
	p.serves("1")
	p.install(plugin(t, "3", more, "http_fetch"), "draft", done["hash"])
	p.serves("1")
	kept("1", "3")
	p.manage("approve", m{"plugin": "acme.a"})
	p.serves("3")
	p.manage("rollback", m{"plugin": "acme.a"})
	p.serves("1")
}

func TestInstallRefuses(t *testing.T) {
	p := newProcess(t)
	p.install(plugin(t, "1", nil))
	tests := []struct {
		name string
		wasm string
		kind fault.Kind
		want string
	}{
		{"no base64", "***", fault.Validation, "base64"},
		{"no module", base64.StdEncoding.EncodeToString([]byte("<html>")), fault.Validation, "not a WebAssembly module"},
		{"cut off", base64.StdEncoding.EncodeToString(plugin(t, "2", nil)[:100]), fault.Validation, "cut off"},
		{"asks for less than it imports", base64.StdEncoding.EncodeToString(plugin(t, "2", m{"grants": []any{}}, "kv_get")), fault.Validation, "imports kv_get"},
		{"a DocType of the platform", base64.StdEncoding.EncodeToString(plugin(t, "2", m{"doctypes": []any{m{"name": "ToDo", "fields": []any{}}}})), fault.Conflict, "may not redefine"},
		{"no DocType", base64.StdEncoding.EncodeToString(plugin(t, "2", m{"doctypes": []any{m{"name": "A Thing", "fields": []any{m{"fieldname": "x", "fieldtype": "Magic"}}}}})), fault.Validation, "Magic"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := p.refuses(tt.kind, "framework.plugins.install", m{"wasm": tt.wasm})
			if !strings.Contains(f.Message, tt.want) {
				t.Errorf("message %q, want %q in it", f.Message, tt.want)
			}
			p.serves("1")
			p.status(installed.Active)
		})
	}
	p.refuses(fault.Validation, "framework.plugins.install", nil)
	wasm := m{"wasm": base64.StdEncoding.EncodeToString(plugin(t, "2", nil))}
	jane := &identity.Caller{User: "jane@example.com", Roles: []string{identity.All, identity.DeskUser}}
	if _, err := p.callAs(jane, "POST", "framework.plugins.install", wasm); fault.KindOf(err) != fault.Permission {
		t.Errorf("not a System Manager: %v", err)
	}
	if _, err := p.call("GET", "framework.plugins.install", wasm); fault.KindOf(err) != fault.Permission {
		t.Errorf("by GET: %v", err)
	}
	manager := &identity.Caller{User: "jane@example.com", Roles: []string{identity.All, identity.SystemManager}}
	if _, err := p.callAs(manager, "POST", "framework.plugins.install", wasm); err != nil {
		t.Errorf("a System Manager: %v", err)
	}
	p.serves("2")
	err := p.store.Read(t.Context(), func(tx document.Tx) error {
		doc, err := p.documents.As(manager, tx).Get(t.Context(), "Plugin", "acme.a")
		if err == nil && doc.Text("modified_by") != manager.User {
			t.Errorf("modified by %s", doc.Text("modified_by"))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPluginsDoNotManage: a plugin that acts for an administrator is no
// administrator.
func TestPluginsDoNotManage(t *testing.T) {
	p := newProcess(t)
	p.approved(plugin(t, "1", nil, "method_call"))
	f := p.refuses(fault.Permission, "acme.a.method_call", m{"method": "framework.plugins.disable", "args": m{"plugin": "acme.a"}})
	if !strings.Contains(f.Message, "not granted method:framework.plugins.disable") {
		t.Errorf("message %q", f.Message)
	}
	p.serves("1")
}

func TestApproval(t *testing.T) {
	p := newProcess(t)
	fetch := m{"allowed_hosts": []any{"a.example"}}
	// A fresh one waits.
	done := p.install(plugin(t, "1", fetch, "kv_get", "http_fetch"))
	if done["pending"] != true || done["status"] != "Awaiting Approval" {
		t.Errorf("installed %v", done)
	}
	p.serves("")
	p.refuses(fault.Validation, "acme.a.kv_get", m{"key": "x"})
	p.manage("approve", m{"plugin": "acme.a"})
	p.status(installed.Active)
	if _, err := p.call("POST", "acme.a.http_fetch", m{"url": "a.example"}); err != nil {
		t.Error(err)
	}

	// One host more waits, while the old version serves; so it does when only
	// part of it is approved.
	more := m{"allowed_hosts": []any{"a.example", "b.example"}, "grants": []string{"elevated"}}
	done = p.install(plugin(t, "2", more, "kv_get", "http_fetch"))
	if done["pending"] != true || !slices.Equal(done["grants_waiting"].([]any), []any{"elevated", "http_fetch:b.example"}) {
		t.Errorf("installed %v", done)
	}
	p.serves("1")
	p.status(installed.Awaiting)
	p.manage("approve", m{"plugin": "acme.a"}) // all but elevated
	p.serves("1")
	p.refuses(fault.Validation, "framework.plugins.approve", m{"plugin": "acme.a", "grants": "doc_get"})
	p.manage("approve", m{"plugin": "acme.a", "grants": []any{"elevated"}})
	p.serves("2")
	p.status(installed.Active)
	if _, err := p.call("POST", "acme.a.http_fetch", m{"url": "b.example"}); err != nil || len(p.fetched) != 2 {
		t.Errorf("%v, fetched %v", err, p.fetched)
	}

	// Without what it needs it has no methods.
	p.manage("revoke", m{"plugin": "acme.a", "grants": "http_fetch:b.example"})
	p.refuses(fault.Validation, "acme.a.http_fetch", m{"url": "a.example"})
	p.refuses(fault.Validation, "framework.plugins.revoke", m{"plugin": "acme.a", "grants": "http_fetch:b.example"})
	p.manage("revoke", m{"plugin": "acme.a"})
	p.refuses(fault.Validation, "acme.a.kv_get", m{"key": "x"})
	p.manage("approve", m{"plugin": "acme.a", "grants": "elevated http_fetch:a.example,http_fetch:b.example"})

	// A version that waits is put aside by rolling back.
	p.install(plugin(t, "3", more, "kv_get", "http_fetch", "enqueue"))
	p.serves("2")
	p.install(plugin(t, "4", more, "kv_get", "http_fetch", "enqueue")) // asks for what version 3 waits for
	p.serves("2")
	p.manage("rollback", m{"plugin": "acme.a"})
	p.serves("2")
	if r := p.record(); r["pending_hash"] != nil {
		t.Errorf("record %v", r)
	}
	p.install(plugin(t, "3", more, "kv_get", "http_fetch", "enqueue"), "approve", "enqueue")
	p.serves("3")
}

// TestElevated: what a plugin may do by its grant it does as the caller, and
// only under the grant.
func TestElevated(t *testing.T) {
	p := newProcess(t)
	jane := &identity.Caller{User: "jane@example.com", Roles: []string{identity.All}}
	p.install(plugin(t, "1", m{"grants": []string{"elevated"}}, "doc_get", "doc_insert", "method_call"))
	insert := func() (any, error) {
		return p.callAs(jane, http.MethodPost, "acme.a.doc_insert", m{"doc": m{"doctype": "Priority", "title": "Boss"}})
	}
	p.manage("approve", m{"plugin": "acme.a"})
	if _, err := insert(); err == nil {
		t.Fatal("it serves without approval")
	}
	p.manage("approve", m{"plugin": "acme.a", "grants": "elevated"})
	if _, err := p.callAs(jane, http.MethodPost, "acme.a.doc_insert", m{"doc": m{"doctype": "Role", "role_name": "Boss"}}); fault.KindOf(err) != fault.Permission {
		t.Errorf("elevated access reaches the platform: %v", err)
	}
	doc, err := insert()
	if err != nil {
		t.Fatal(err)
	}
	if owner := doc.(m)["owner"]; owner != jane.User {
		t.Errorf("the owner is %v", owner)
	}
	// A method it calls is the caller's again.
	_, err = p.callAs(jane, http.MethodPost, "acme.a.method_call", m{"method": "framework.plugins.list"})
	if fault.KindOf(err) != fault.Permission {
		t.Errorf("elevation is handed on: %v", err)
	}
}

// TestElevationEndsAtHandlers: who hears of what an elevated plugin writes acts as
// the caller, without the elevation.
func TestElevationEndsAtHandlers(t *testing.T) {
	p := newProcess(t)
	jane := &identity.Caller{User: "jane@example.com", Roles: []string{identity.All}}
	p.approved(plugin(t, "1", m{"grants": []string{"elevated"}}, "doc_insert"), "elevated")
	role := m{"doc": m{"doctype": "Priority", "title": "Boss"}}
	if _, err := p.callAs(jane, http.MethodPost, "acme.a.doc_insert", role); err != nil {
		t.Fatal(err)
	}
	// This handler hands the event on to doc_insert: it would insert the role
	// that is being validated.
	role = m{"doc": m{"doctype": "Priority", "title": "Boss of bosses"}}
	p.approved(plugintest.Asks(t, "acme.c", "1", "", m{"events": m{"Priority.validate": "doc_insert"}}, "doc_insert"))
	if _, err := p.callAs(jane, http.MethodPost, "acme.a.doc_insert", role); fault.KindOf(err) != fault.Permission {
		t.Errorf("a handler inserted a role as jane: %v", err)
	}
}

// TestNobodyElseWritesRecords: not a plugin that runs for the Administrator, and
// not the Administrator.
func TestNobodyElseWritesRecords(t *testing.T) {
	p := newProcess(t)
	p.approved(plugin(t, "1", m{"allowed_hosts": []any{"a.example"}}, "doc_update", "doc_delete", "http_fetch"))
	before := len(p.record()["grants_approved"].([]any))
	p.refuses(fault.Permission, "acme.a.doc_update", m{"doctype": "Plugin", "name": "acme.a", "doc": m{"grants_approved": "http_fetch"}})
	p.refuses(fault.Permission, "acme.a.doc_delete", m{"doctype": "Plugin", "name": "acme.a"})
	if _, err := p.insert("Plugin", m{"name": "acme.b"}); fault.KindOf(err) != fault.Permission {
		t.Errorf("the Administrator: %v", err)
	}
	if r := p.record(); len(r["grants_approved"].([]any)) != before {
		t.Errorf("record %v", r)
	}
}

// TestNoPluginKeepsItself: a handler that refuses everything does not refuse to
// be taken away.
func TestNoPluginKeepsItself(t *testing.T) {
	p := newProcess(t)
	p.approved(plugin(t, "1", m{"events": m{"*.validate": "doc_get", "*.on_trash": "doc_get", "Plugin.on_update": "doc_get"}}, "doc_get"), "event:Plugin.on_update")
	if _, err := p.insert("ToDo", m{"description": "x"}); fault.KindOf(err) != fault.BadRequest {
		t.Fatalf("the handler refuses: %v", err)
	}
	p.manage("disable", m{"plugin": "acme.a"})
	if _, err := p.insert("ToDo", m{"description": "x"}); err != nil {
		t.Error(err)
	}
	p.manage("enable", m{"plugin": "acme.a"})
	p.manage("uninstall", m{"plugin": "acme.a"})
	p.serves("")
}

// TestKeptApart: what a plugin keeps no other plugin finds.
func TestKeptApart(t *testing.T) {
	p := newProcess(t)
	p.install(plugin(t, "1", nil, "kv_get", "kv_set"))
	p.install(plugintest.Asks(t, "acme.b", "1", "", nil, "kv_get"))
	if _, err := p.call("POST", "acme.a.kv_set", m{"key": "k", "value": "secret"}); err != nil {
		t.Fatal(err)
	}
	if v, err := p.call("POST", "acme.a.kv_get", m{"key": "k"}); v != "secret" || err != nil {
		t.Errorf("its own: %v, %v", v, err)
	}
	if v, err := p.call("POST", "acme.b.kv_get", m{"key": "k"}); v != nil || err != nil {
		t.Errorf("another's: %v, %v", v, err)
	}
	if _, ok := p.kv.Get("acme.b", "k"); ok {
		t.Error("another plugin has it")
	}
	if _, ok := p.kv.Get("acme.a", "k"); !ok {
		t.Error("the site does not have it")
	}
}

// TestTwoProcesses: what one process installs, another one on the same database
// takes over when it looks.
func TestTwoProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.db")
	a, b := start(t, file, t.TempDir()), start(t, file, t.TempDir())
	a.install(plugin(t, "1", nil))
	b.sync()
	b.serves("1")
	b.install(plugin(t, "2", nil))
	a.serves("1")
	a.sync()
	a.serves("2")
	a.manage("rollback", m{"plugin": "acme.a"})
	b.sync()
	b.serves("1")
	b.manage("disable", m{"plugin": "acme.a"})
	a.sync()
	a.serves("")
	a.manage("enable", m{"plugin": "acme.a"})
	a.manage("uninstall", m{"plugin": "acme.a"})
	b.sync()
	b.serves("")
	a.install(plugin(t, "3", nil))
	// And one that starts later has it from the beginning.
	start(t, file, t.TempDir()).serves("3")
}
