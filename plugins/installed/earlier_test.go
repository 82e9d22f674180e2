package installed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/plugins/installed"
	"armature/plugins/plugintest"
)

// TestWaitingOutlivesProcess: while a version in a folder waits for approval, the
// one before it serves in processes too that never saw its file.
func TestWaitingOutlivesProcess(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	p := start(t, file, dir)
	if err := p.put(plugin(t, "1", nil, "kv_get")); err != nil {
		t.Fatal(err)
	}
	if err := p.put(plugin(t, "2", m{"allowed_hosts": []any{"a.example"}}, "kv_get", "http_fetch")); err != nil {
		t.Fatal(err)
	}
	p.serves("1")

	p = start(t, file, dir)
	p.serves("1")
	p.status(installed.Awaiting)
	if r := p.record(); r["version"] != "1" || r["pending_version"] != "2" {
		t.Errorf("record %v", r)
	}
	if _, err := p.call("POST", "acme.a.kv_get", m{"key": "k"}); err != nil {
		t.Error(err)
	}
	p.refuses(fault.Validation, "acme.a.http_fetch", m{"url": "a.example"})

	// Disabled and enabled, here or in the next process, it is the same.
	p.manage("disable", m{"plugin": "acme.a"})
	p.serves("")
	p.sync()
	p.manage("enable", m{"plugin": "acme.a"})
	p.serves("1")
	p.manage("disable", m{"plugin": "acme.a"})
	p = start(t, file, dir)
	p.serves("")
	p.manage("enable", m{"plugin": "acme.a"})
	p.serves("1")

	p.manage("approve", m{"plugin": "acme.a"})
	p.serves("2")
	p.status(installed.Active)
	p = start(t, file, dir)
	p.serves("2")
	if r := p.record(); r["version"] != "2" || r["pending_version"] != nil {
		t.Errorf("record %v", r)
	}
}

// TestBrokenWhileNobodyLooks: a file that cannot be loaded leaves the old version
// serving in a process too that starts with it, and the record says why.
func TestBrokenWhileNobodyLooks(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	p := start(t, file, dir)
	if err := p.put(plugin(t, "1", nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(), []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, file, dir)
	p.serves("1")
	p.status(installed.Failed)
	if text, _ := p.record()["error"].(string); !strings.Contains(text, "not a WebAssembly module") {
		t.Errorf("error %q", text)
	}
	if err := p.put(plugin(t, "2", nil)); err != nil {
		t.Fatal(err)
	}
	p.serves("2")
	p.status(installed.Active)

	// Another plugin in its place is another plugin, also when it is broken.
	if err := os.WriteFile(p.path(), plugintest.Asks(t, "acme.b", "1", "b", m{"methods": []any{m{"path": "acme.b.x", "export": "none"}}}), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, file, dir).serves("")
}

// TestBrokenSuccessor: a plugin whose file became another's is gone, also once that
// one cannot be loaded: it is the other that goes on serving.
func TestBrokenSuccessor(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	p := start(t, file, dir)
	if err := p.put(plugin(t, "1", nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(), plugintest.Asks(t, "acme.b", "1", "b", nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, file, dir)
	p.serves("")
	if err := os.WriteFile(p.path(), []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		p = start(t, file, dir)
		p.serves("")
	}
}

// TestReplacedWhileNobodyLooks: a version that was put into the folder while no
// server ran waits like any other.
func TestReplacedWhileNobodyLooks(t *testing.T) {
	grown := m{"allowed_hosts": []any{"a.example"}}
	for name, tt := range map[string]struct {
		next []byte
		harm func(copied string) error
		want string
	}{
		"it asks for more":        {plugin(t, "2", grown, "http_fetch"), nil, "1"},
		"it asks for no more":     {plugin(t, "2", nil, "kv_get"), nil, "2"},
		"the copy is gone":        {plugin(t, "2", grown, "http_fetch"), os.Remove, "2"},
		"the copy is another one": {plugin(t, "2", grown, "http_fetch"), func(path string) error { return os.WriteFile(path, plugin(t, "3", nil), 0o600) }, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
			p := start(t, file, dir)
			if err := p.put(plugin(t, "1", nil)); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(p.bundles, p.record()["hash"].(string)+".wasm")
			if !exists(copied) {
				t.Fatal("no copy was made")
			}
			if tt.harm != nil {
				if err := tt.harm(copied); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(p.path(), tt.next, 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, file, dir).serves(tt.want)
		})
	}
}
