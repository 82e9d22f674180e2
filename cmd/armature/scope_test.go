package main_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestScopesInsidePlugin: a token reaches through a plugin no further than by
// itself, though its user may do more.
func TestScopesInsidePlugin(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		wasm := filepath.Join(t.TempDir(), "todo.wasm")
		in.Run("plugin", "build", filepath.Join(armaturetest.Root(t), "examples", "todo"), "-o", wasm)
		in.Run("plugin", "install", wasm)
		s.Want("POST", "/api/resource/User", map[string]any{
			"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase",
		})
		todo := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "x", "allocated_to": "ada@example.com"}).(map[string]any)
		armaturetest.Eventually(t, "the plugin serves", func() bool {
			status, _ := s.Call("GET", "/api/method/acme.todo.summary", nil)
			return status == http.StatusOK
		})
		body := map[string]any{"name": todo["name"]}

		reader := s.Bearer(t, "method:acme.todo.* resource:ToDo:read")
		if status, answer := s.CallAs(reader, "GET", "/api/method/acme.todo.show?name="+todo["name"].(string), nil); status != http.StatusOK {
			t.Fatalf("show with the right to read: %d %v", status, answer)
		}
		if status, answer := s.CallAs(reader, "POST", "/api/method/acme.todo.close", body); status != http.StatusForbidden || answer["exc_type"] != "PermissionError" {
			t.Errorf("close with the right to read: %d %v", status, answer)
		}
		if got := s.Want("GET", "/api/resource/ToDo/"+todo["name"].(string), nil).(map[string]any)["status"]; got != "Open" {
			t.Errorf("the document is %v", got)
		}
		other := s.Bearer(t, "method:acme.other.* resource:ToDo:write")
		if status, answer := s.CallAs(other, "POST", "/api/method/acme.todo.close", body); status != http.StatusForbidden {
			t.Errorf("close without the right to the method: %d %v", status, answer)
		}
		writer := s.Bearer(t, "method:acme.todo.close resource:ToDo:read resource:ToDo:write")
		if status, answer := s.CallAs(writer, "POST", "/api/method/acme.todo.close", body); status != http.StatusOK {
			t.Errorf("close with the right to write: %d %v", status, answer)
		}
	})
}
