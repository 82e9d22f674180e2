package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// signing is a folder in which somebody writes and signs plugins.
type signing struct {
	t   *testing.T
	in  *armaturetest.Installation
	dir string
}

// key makes a key and returns the public one.
func (w *signing) key(name string) string {
	w.t.Helper()
	w.in.Run("plugin", "keygen", filepath.Join(w.dir, name), "--no-passphrase")
	info, err := os.Stat(filepath.Join(w.dir, name))
	if err != nil || info.Mode().Perm() != 0o600 {
		w.t.Fatalf("%v %v", info, err)
	}
	public, err := os.ReadFile(filepath.Join(w.dir, name+".pub"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Fields(string(public))[len(strings.Fields(string(public)))-1]
}

// bundle is version of the plugin acme.s, signed with a key; empty: not signed.
func (w *signing) bundle(version, key string) []byte {
	w.t.Helper()
	source := filepath.Join(w.dir, "acme.s.js")
	code := `export const manifest = { version: "` + version + `", grants: [] }; export function v() { return "` + version + " " + key + `"; }`
	if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
		w.t.Fatal(err)
	}
	out := filepath.Join(w.dir, "out.wasm")
	if key == "" {
		w.in.Run("plugin", "build", source, "-o", out)
	} else {
		w.in.Run("plugin", "sign", source, "--key", filepath.Join(w.dir, key), "-o", out)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		w.t.Fatal(err)
	}
	return wasm
}

// TestSignedPlugins: another publisher and an older version wait for somebody who
// approves just that, what was changed is refused, and a site may take the plugins
// of named publishers alone.
func TestSignedPlugins(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		w := &signing{t, in, t.TempDir()}
		ours, theirs := w.key("ours"), w.key("theirs")
		serves := func(want string) {
			t.Helper()
			if _, answer := s.Call("GET", "/api/method/acme.s.v", nil); answer["message"] != want {
				t.Errorf("%v serves, want %q", answer, want)
			}
		}
		waits := func(wasm []byte, entry string) {
			t.Helper()
			done := s.Install(wasm)
			list, _ := done["grants_waiting"].([]any)
			if done["pending"] != true || !slices.Contains(list, any(entry)) {
				t.Errorf("pending %v, waits for %v, want %s", done["pending"], list, entry)
			}
		}
		approve := func(entry string) {
			t.Helper()
			s.Want("POST", "/api/method/framework.plugins.approve", args{"plugin": "acme.s", "grants": []string{entry}})
		}
		if done := s.Install(w.bundle("1.0.0", "ours")); done["publisher"] != ours || done["status"] != "Active" {
			t.Fatalf("%v", done)
		}
		s.Install(w.bundle("1.1.0", "ours"))
		serves("1.1.0 ours")
		waits(w.bundle("1.2.0", "theirs"), "publisher:"+theirs)
		waits(w.bundle("1.2.0", ""), "publisher:none")
		waits(w.bundle("1.0.0", "ours"), "version:1.0.0")
		serves("1.1.0 ours")
		approve("version:1.0.0")
		serves("1.0.0 ours")
		s.Install(w.bundle("1.1.0", "ours"))
		waits(w.bundle("1.0.0", "ours"), "version:1.0.0") // approved once is not approved for ever
		waits(w.bundle("1.3.0", "theirs"), "publisher:"+theirs)
		approve("publisher:" + theirs)
		serves("1.3.0 theirs")
		list := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.s", nil).([]any)[0].(map[string]any)
		if list["publisher"] != theirs || list["status"] != "Active" {
			t.Errorf("%v", list)
		}

		good := w.bundle("1.4.0", "theirs")
		bad := slices.Clone(good)
		at := strings.Index(string(bad), `return "1.4.0`)
		bad[at+8] = '7'
		for _, wasm := range [][]byte{bad, slices.Concat(good, good[strings.LastIndex(string(good), "armature.signature")-4:])} {
			status, answer := s.Upload(s.Auth, "/api/method/framework.plugins.install", wasm)
			if status != http.StatusExpectationFailed {
				t.Errorf("a changed plugin: %d %v", status, answer)
			}
		}
		serves("1.3.0 theirs")

		in.Run("site", "config", "default", "set", "plugin_publishers", `["`+ours+`"]`)
		armaturetest.Eventually(t, "what others have signed serves no more", func() bool {
			status, _ := s.Call("GET", "/api/method/acme.s.v", nil)
			return status != http.StatusOK
		})
		for key, word := range map[string]string{"": "not signed", "theirs": theirs} {
			status, answer := s.Upload(s.Auth, "/api/method/framework.plugins.install", w.bundle("2.0.0", key))
			if text, _ := answer["exception"].(string); status != http.StatusForbidden || !strings.Contains(text, word) {
				t.Errorf("signed with %q: %d %v", key, status, answer)
			}
		}
		waits(w.bundle("2.0.0", "ours"), "publisher:"+ours)
		approve("publisher:" + ours)
		serves("2.0.0 ours")
	})
}

// TestSignedInFolder: a plugin in a folder that another key has signed waits, the
// version before goes on serving, and a server may ask for named publishers.
func TestSignedInFolder(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		w := &signing{t, in, t.TempDir()}
		ours := w.key("ours")
		w.key("theirs")
		put := func(wasm []byte) {
			t.Helper()
			file := filepath.Join(in.Plugins(), "acme.s.wasm")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file+".new", wasm, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}
		put(w.bundle("1.0.0", "ours"))
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		serves := func(want string) {
			t.Helper()
			armaturetest.Eventually(t, want+" serves", func() bool {
				_, answer := s.Call("GET", "/api/method/acme.s.v", nil)
				return answer["message"] == want
			})
		}
		serves("1.0.0 ours")
		put(w.bundle("1.1.0", "theirs"))
		armaturetest.Eventually(t, "the other key waits", func() bool {
			list := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.s", nil).([]any)[0].(map[string]any)
			return list["pending_version"] == "1.1.0"
		})
		serves("1.0.0 ours")
		in.Run("plugin", "approve", "acme.s")
		serves("1.1.0 theirs")
		s.Stop()

		s = in.Serve("--plugin-publishers", ours)
		s.Auth = in.Keys("Administrator")
		if status, answer := s.Call("GET", "/api/method/acme.s.v", nil); status == http.StatusOK {
			t.Errorf("a plugin of nobody whom the server names serves: %v", answer)
		}
		list := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.s", nil).([]any)[0].(map[string]any)
		if text, _ := list["error"].(string); !strings.Contains(text, "plugin_publishers") {
			t.Errorf("%v", list)
		}
	})
}
