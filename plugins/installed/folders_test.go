package installed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/plugins/installed"
)

func TestFolder(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	p := start(t, file, dir)
	if err := p.put(plugin(t, "1", nil, "kv_get")); err != nil {
		t.Fatal(err)
	}
	p.serves("1")
	p.status(installed.Active)
	if r := p.record(); r["source"] != filepath.Join(dir, "a.wasm") || r["version"] != "1" {
		t.Errorf("record %v", r)
	}

	// A grant that grew waits while the old version serves.
	if err := p.put(plugin(t, "2", m{"allowed_hosts": []any{"a.example"}}, "kv_get", "http_fetch")); err != nil {
		t.Fatal(err)
	}
	p.serves("1")
	p.status(installed.Awaiting)
	if r := p.record(); r["version"] != "1" || r["pending_version"] != "2" {
		t.Errorf("record %v", r)
	}
	p.manage("approve", m{"plugin": "acme.a"})
	p.serves("2")
	p.sync()
	p.status(installed.Active)
	if _, err := p.call("POST", "acme.a.http_fetch", m{"url": "a.example"}); err != nil {
		t.Error(err)
	}

	// One that does not load leaves the old one, and says why.
	if err := p.put([]byte("<html>")); err == nil {
		t.Fatal("text was loaded")
	}
	p.serves("2")
	p.status(installed.Failed)
	if text := p.record()["error"].(string); !strings.Contains(text, "not a WebAssembly module") {
		t.Errorf("error %q", text)
	}
	if err := p.put(plugin(t, "3", nil, "kv_get")); err != nil {
		t.Fatal(err)
	}
	p.status(installed.Active)

	p.manage("disable", m{"plugin": "acme.a"})
	p.serves("")
	if err := p.put(plugin(t, "4", nil, "kv_get")); err != nil {
		t.Fatal(err)
	}
	p.serves("")
	p.status(installed.Disabled)
	p.manage("enable", m{"plugin": "acme.a"})
	p.serves("4")
	p.refuses(fault.Validation, "framework.plugins.rollback", m{"plugin": "acme.a"})
	p.refuses(fault.Validation, "framework.plugins.uninstall", m{"plugin": "acme.a"})
	p.refuses(fault.Conflict, "framework.plugins.install", m{"wasm": encode(plugin(t, "5", nil))})

	p.loader.Unload(filepath.Join(dir, "a.wasm"))
	p.sync()
	p.serves("")
	p.refuses(fault.NotFound, "framework.plugins.list", m{"plugin": "acme.a"})
}

// TestFolderBesideServer: a command knows what lies in a folder before the server of
// a site that nobody uses has noted it, and can approve it; what is gone is gone.
func TestFolderBesideServer(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	server := start(t, file, dir)
	path := filepath.Join(dir, "a.wasm")
	asks := plugin(t, "1", m{"allowed_hosts": []any{"a.example"}}, "http_fetch")
	if err := os.WriteFile(path, asks, 0o644); err != nil {
		t.Fatal(err)
	}
	command := observe(t, file, dir)
	if r := command.record(); r["status"] != string(installed.Awaiting) || r["source"] != path || r["version"] != "1" {
		t.Errorf("record %v", r)
	}
	command.manage("approve", m{"plugin": "acme.a"})
	if err := server.put(asks); err != nil { // the server looks
		t.Fatal(err)
	}
	server.status(installed.Active)
	if _, err := server.call("POST", "acme.a.http_fetch", m{"url": "a.example"}); err != nil {
		t.Error(err)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	command = observe(t, file, dir)
	command.refuses(fault.NotFound, "framework.plugins.list", m{"plugin": "acme.a"})
	server.status(installed.Active) // it has not looked again
}

// TestFolderWhileNobodyLooks: what was removed while no server ran has no record
// any more when one starts; a record of another machine's folder stays.
func TestFolderWhileNobodyLooks(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "site.db"), t.TempDir()
	p := start(t, file, dir)
	if err := p.put(plugin(t, "1", nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.wasm")); err != nil {
		t.Fatal(err)
	}
	start(t, file, t.TempDir()).status(installed.Active)
	start(t, file, dir).refuses(fault.NotFound, "framework.plugins.list", m{"plugin": "acme.a"})
}

// TestTwoFilesOfOneName: where two files claim a name and neither serves, the record is
// about one of them, the same at every look: nobody finds it changed when nothing was.
func TestTwoFilesOfOneName(t *testing.T) {
	waits := func(version string) []byte {
		return plugin(t, version, m{"allowed_hosts": []any{"a.example"}}, "http_fetch")
	}
	cannotLoad := plugin(t, "3", m{"methods": []any{m{"path": "acme.a.x", "export": "none"}}})
	for name, files := range map[string][2][]byte{
		"both wait":          {waits("1"), waits("2")},
		"neither loads":      {cannotLoad, append(cannotLoad[:len(cannotLoad):len(cannotLoad)], 0, 1, 0)},
		"one does not load":  {cannotLoad, waits("1")},
		"another is no good": {waits("1"), cannotLoad},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			for i, file := range []string{"a.wasm", "b.wasm"} {
				path := filepath.Join(p.dir, file)
				if err := os.WriteFile(path, files[i], 0o600); err != nil {
					t.Fatal(err)
				}
				_ = p.loader.Load(t.Context(), path) // what fails is reported
			}
			p.sync()
			p.serves("")
			before, source := p.epoch(), p.record()["source"]
			for range 3 {
				p.sync()
			}
			if now := p.epoch(); now != before || p.record()["source"] != source {
				t.Errorf("nothing has happened, and epoch %d is %d, the record about %v about %v", before, now, source, p.record()["source"])
			}
		})
	}
}
