package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/plugins/bundle"
)

func TestPlugins(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		built := in.Todo(t.TempDir())
		if out := in.Run("plugin", "inspect", built); !strings.Contains(out, "acme.todo.close") {
			t.Errorf("inspect: %s", out)
		}
		in.Run("plugin", "install", built)
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		made := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "call the plugin"}).(map[string]any)
		closed := s.Want("POST", "/api/method/acme.todo.close", map[string]any{"name": made["name"]}).(map[string]any)
		if closed["status"] != "Closed" {
			t.Errorf("the plugin answered %v", closed)
		}
		if got := s.Want("GET", "/api/resource/ToDo/"+made["name"].(string), nil).(map[string]any); got["status"] != "Closed" {
			t.Errorf("the plugin's change was not committed: %v", got)
		}

		// Another plugin appears while the server runs, and goes again.
		if status, _ := s.Call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"}); status != http.StatusExpectationFailed {
			t.Errorf("before it is there: %d", status)
		}
		more := filepath.Join(in.Data, "plugins", "more.wasm")
		armaturetest.Put(t, more, another(t, built))
		armaturetest.Eventually(t, "the second plugin answers", func() bool {
			status, answer := s.Call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"})
			return status == http.StatusOK && answer["message"].(map[string]any)["a"] == "b"
		})
		if err := os.Remove(more); err != nil {
			t.Fatal(err)
		}
		armaturetest.Eventually(t, "the second plugin is gone", func() bool {
			status, _ := s.Call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"})
			return status == http.StatusExpectationFailed
		})
		s.Want("GET", "/api/method/acme.todo.summary", nil)
		s.Stop()

		if out := in.Run("plugin", "run", "acme.todo.echo", `{"a": 1}`); strings.TrimSpace(out) != `{"a":1}` {
			t.Errorf("plugin run: %s", out)
		}
		if out := in.Run("plugin", "list"); !strings.Contains(out, "acme.todo") {
			t.Errorf("plugin list: %s", out)
		}
	})
}

// another is the todo example under a manifest of its own.
func another(t *testing.T, built string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"name": "acme.more", "version": "1", "abi": 1,
		"methods": [{"path": "acme.more.echo", "export": "acme.todo.echo"}],
		"grants": ["doc_get", "doc_list", "doc_count", "doc_update"]}`
	whole, err := bundle.Embed(wasm, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return whole
}
