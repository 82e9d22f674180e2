package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/plugins/plugintest"
)

// TestWaitingOutlivesRestart: a version in a folder that asks for more waits for
// approval while the one before it serves, also after the server was killed and
// started again, when nothing but the new file lies in the folder.
func TestWaitingOutlivesRestart(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		file := filepath.Join(in.Data, "plugins", "a.wasm")
		put := func(wasm []byte) {
			t.Helper()
			if err := os.WriteFile(file+".new", wasm, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}
		version := func(n string, capabilities ...string) []byte {
			return plugintest.Asks(t, "acme.a", n, n, map[string]any{
				"allowed_hosts": []string{"a.example"},
				"methods":       []any{map[string]any{"path": "acme.a.v" + n, "export": "echo"}},
			}, capabilities...)
		}
		answers := func(s *armaturetest.Server, path string) bool {
			status, _ := s.Call("POST", "/api/method/"+path, map[string]any{})
			return status == http.StatusOK
		}
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		put(version("1"))
		armaturetest.Eventually(t, "version 1 is there", func() bool { return answers(s, "acme.a.v1") })
		in.Run("plugin", "approve", "acme.a")
		put(version("2", "kv_get", "http_fetch"))
		armaturetest.Eventually(t, "version 2 is there", func() bool {
			e := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.a", nil).([]any)[0].(map[string]any)
			return e["pending_version"] == "2" && e["status"] == "Awaiting Approval"
		})
		if !answers(s, "acme.a.v1") || answers(s, "acme.a.v2") {
			t.Fatal("version 2 does not wait")
		}

		s.Kill()
		again := in.Serve()
		again.Auth = s.Auth
		if !answers(again, "acme.a.v1") || answers(again, "acme.a.v2") {
			t.Fatal("after a restart version 2 does not wait")
		}
		in.Run("plugin", "approve", "acme.a")
		armaturetest.Eventually(t, "version 2 serves", func() bool { return answers(again, "acme.a.v2") && !answers(again, "acme.a.v1") })
		again.Stop()
		last := in.Serve()
		last.Auth = s.Auth
		if !answers(last, "acme.a.v2") || answers(last, "acme.a.v1") {
			t.Error("after another restart version 2 does not serve")
		}
	})
}
