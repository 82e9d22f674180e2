package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"armature/plugins/plugintest"
)

// TestWaitingOutlivesRestart: a version in a folder that asks for more waits for
// approval while the one before it serves, also after the server was killed and
// started again, when nothing but the new file lies in the folder.
func TestWaitingOutlivesRestart(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		file := filepath.Join(in.data, "plugins", "a.wasm")
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
		answers := func(s *server, path string) bool {
			status, _ := s.call("POST", "/api/method/"+path, map[string]any{})
			return status == http.StatusOK
		}
		s := in.serve()
		s.auth = in.keys("Administrator")
		put(version("1"))
		eventually(t, "version 1 is there", func() bool { return answers(s, "acme.a.v1") })
		in.run("plugin", "approve", "acme.a")
		put(version("2", "kv_get", "http_fetch"))
		eventually(t, "version 2 is there", func() bool {
			e := s.want("GET", "/api/method/framework.plugins.list?plugin=acme.a", nil).([]any)[0].(map[string]any)
			return e["pending_version"] == "2" && e["status"] == "Awaiting Approval"
		})
		if !answers(s, "acme.a.v1") || answers(s, "acme.a.v2") {
			t.Fatal("version 2 does not wait")
		}

		s.kill()
		again := in.serve()
		again.auth = s.auth
		if !answers(again, "acme.a.v1") || answers(again, "acme.a.v2") {
			t.Fatal("after a restart version 2 does not wait")
		}
		in.run("plugin", "approve", "acme.a")
		eventually(t, "version 2 serves", func() bool { return answers(again, "acme.a.v2") && !answers(again, "acme.a.v1") })
		again.stop()
		last := in.serve()
		last.auth = s.auth
		if !answers(last, "acme.a.v2") || answers(last, "acme.a.v1") {
			t.Error("after another restart version 2 does not serve")
		}
	})
}
