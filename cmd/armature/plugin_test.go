package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/plugins/bundle"
)

// todo builds the todo example into dir and returns the file.
func (in *installation) todo(dir string) string {
	in.t.Helper()
	file := filepath.Join(dir, "todo.wasm")
	in.run("plugin", "build", filepath.Join(root(in.t), "examples", "todo"), "-o", file)
	return file
}

func TestPlugins(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		built := in.todo(t.TempDir())
		if out := in.run("plugin", "inspect", built); !strings.Contains(out, "acme.todo.close") {
			t.Errorf("inspect: %s", out)
		}
		in.run("plugin", "install", built)
		s := in.serve()
		s.auth = in.keys("Administrator")
		made := s.want("POST", "/api/resource/ToDo", map[string]any{"description": "call the plugin"}).(map[string]any)
		closed := s.want("POST", "/api/method/acme.todo.close", map[string]any{"name": made["name"]}).(map[string]any)
		if closed["status"] != "Closed" {
			t.Errorf("the plugin answered %v", closed)
		}
		if got := s.want("GET", "/api/resource/ToDo/"+made["name"].(string), nil).(map[string]any); got["status"] != "Closed" {
			t.Errorf("the plugin's change was not committed: %v", got)
		}

		// Another plugin appears while the server runs, and goes again.
		if status, _ := s.call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"}); status != http.StatusExpectationFailed {
			t.Errorf("before it is there: %d", status)
		}
		more := filepath.Join(in.data, "plugins", "more.wasm")
		put(t, more, another(t, built))
		eventually(t, "the second plugin answers", func() bool {
			status, answer := s.call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"})
			return status == http.StatusOK && answer["message"].(map[string]any)["a"] == "b"
		})
		if err := os.Remove(more); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the second plugin is gone", func() bool {
			status, _ := s.call("POST", "/api/method/acme.more.echo", map[string]any{"a": "b"})
			return status == http.StatusExpectationFailed
		})
		s.want("GET", "/api/method/acme.todo.summary", nil)
		s.stop()

		if out := in.run("plugin", "run", "acme.todo.echo", `{"a": 1}`); strings.TrimSpace(out) != `{"a":1}` {
			t.Errorf("plugin run: %s", out)
		}
		if out := in.run("plugin", "list"); !strings.Contains(out, "acme.todo") {
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

// put makes a file appear at once, as a careful operator does.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	tmp := filepath.Join(filepath.Dir(path), ".incoming")
	if err := os.WriteFile(tmp, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}
