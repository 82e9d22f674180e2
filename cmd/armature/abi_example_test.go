package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestPluginWithoutSDK compiles the C of abi.md as it stands there, with the
// command that is given there, and calls it on a running server.
func TestPluginWithoutSDK(t *testing.T) {
	clang := armaturetest.Compiler(t, "clang", "apt-get install clang lld")
	prose, err := os.ReadFile(filepath.Join(armaturetest.Root(t), "sdk", "abi", "abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(prose), "```c\n")
	source, _, found := strings.Cut(source, "```")
	if lines := strings.Count(source, "\n"); !found || lines >= 15 {
		t.Fatalf("abi.md has no plugin in under 15 lines: %d", lines)
	}
	_, flags, _ := strings.Cut(string(prose), "`clang ")
	flags, _, _ = strings.Cut(flags, "`")

	in := armaturetest.New(t)
	dir := filepath.Join(t.TempDir(), "acme.todo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"todo.c": source,
		"armature.json": `{"name": "acme.todo", "version": "1", "abi": 1, "grants": ["doc_get"],
			"methods": [{"path": "acme.todo.read", "verbs": ["GET"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command(clang, strings.Fields(flags)...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("clang %s: %v\n%s", flags, err, out)
	}
	in.Run("plugin", "install", dir)

	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	// Longer than the plugin's input buffer, shorter than its output buffer.
	long := strings.Repeat("Zoë ", 2500)
	made := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": long}).(map[string]any)
	const read = "/api/method/acme.todo.read?doctype=ToDo&name="
	got := s.Want("GET", read+made["name"].(string), nil).(map[string]any)
	if got["description"] != made["description"] || got["status"] != "Open" {
		t.Errorf("the plugin reads %.80v", got)
	}
	if status, answer := s.Call("GET", read+"missing", nil); status != http.StatusNotFound || answer["exc_type"] != "DoesNotExistError" {
		t.Errorf("a document that is not there: %d %v", status, answer)
	}
	in.Run("user", "add", "zoe@example.com")
	if status, answer := s.CallAs(in.Keys("zoe@example.com"), "GET", "/api/method/acme.todo.read?doctype=User&name=Administrator", nil); status != http.StatusForbidden {
		t.Errorf("a document that the caller may not read: %d %v", status, answer)
	}
}
