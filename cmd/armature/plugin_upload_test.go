package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/plugins/plugintest"
)

// TestInstallByUpload: curl -F file=@todo.wasm installs a plugin like the JSON
// form does, of whatever size a plugin may have.
func TestInstallByUpload(t *testing.T) {
	const install = "/api/method/framework.plugins.install"
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		version := func(n string, more map[string]any, capabilities ...string) []byte {
			return plugintest.Asks(t, "acme.a", n, n, more, capabilities...)
		}
		calls := func(path string, want int, excType string) {
			t.Helper()
			status, answer := s.Call("POST", "/api/method/"+path, map[string]any{})
			if status != want || excType != "" && answer["exc_type"] != excType {
				t.Errorf("%s: %d %v, want %d %s", path, status, answer, want, excType)
			}
		}
		refused := func(what string, status int, answer map[string]any, want int, excType, says string) {
			t.Helper()
			if status != want || answer["exc_type"] != excType || !strings.Contains(fmt.Sprint(answer), says) {
				t.Errorf("%s: %d %v, want %d %s about %q", what, status, answer, want, excType, says)
			}
		}

		status, answer := s.Upload(s.Auth, install, version("1", map[string]any{"allowed_hosts": []string{"a.example"}}, "kv_get", "http_fetch"), "approve", "http_fetch,http_fetch:a.example")
		message, _ := answer["message"].(map[string]any)
		if status != http.StatusOK || message["plugin"] != "acme.a" || message["status"] != "Active" {
			t.Fatalf("install: %d %v", status, answer)
		}
		calls("acme.a.echo", http.StatusOK, "")
		calls("acme.a.kv_get", http.StatusBadRequest, "BadRequestError") // it has no key
		status, answer = s.Upload(s.Auth, strings.Replace(install, "install", "plan", 1), version("2", nil))
		if message, _ := answer["message"].(map[string]any); status != http.StatusOK || message["replaces"] != "1" {
			t.Errorf("plan: %d %v", status, answer)
		}

		// A version without a method takes it away.
		if status, answer := s.Upload(s.Auth, install, version("2", nil)); status != http.StatusOK {
			t.Fatalf("version 2: %d %v", status, answer)
		}
		calls("acme.a.echo", http.StatusOK, "")
		calls("acme.a.kv_get", http.StatusExpectationFailed, "ValidationError")
		if _, answer := s.Call("POST", "/api/method/acme.a.kv_get", map[string]any{"key": "k"}); !strings.Contains(fmt.Sprint(answer), "Failed to get method") {
			t.Errorf("a removed method: %v", answer)
		}
		// So does one without an event handler, here one that always fails.
		if status, answer := s.Upload(s.Auth, install, version("3", map[string]any{"events": map[string]any{"ToDo.validate": "kv_get"}}, "kv_get"), "approve", "all"); status != http.StatusOK {
			t.Fatalf("version 3: %d %v", status, answer)
		}
		todo := map[string]any{"description": "x"}
		if status, answer := s.Call("POST", "/api/resource/ToDo", todo); status == http.StatusOK {
			t.Errorf("the handler did not run: %v", answer)
		}
		if status, answer := s.Upload(s.Auth, install, version("4", nil)); status != http.StatusOK {
			t.Fatalf("version 4: %d %v", status, answer)
		}
		s.Want("POST", "/api/resource/ToDo", todo)

		// What is wrong is said, and version 4 serves on.
		status, answer = s.Upload(s.Auth, install, []byte("<html>"))
		refused("text", status, answer, http.StatusExpectationFailed, "ValidationError", "not a WebAssembly module")
		status, answer = s.Upload(s.Auth, install, nil)
		refused("no file", status, answer, http.StatusExpectationFailed, "TypeError", "wasm")
		status, answer = s.Upload(s.Auth, install, []byte{})
		refused("an empty file", status, answer, http.StatusExpectationFailed, "ValidationError", "")
		whole := version("5", nil)
		status, answer = s.Upload(s.Auth, install, whole[:len(whole)/2])
		refused("half a file", status, answer, http.StatusExpectationFailed, "ValidationError", "")
		status, answer = s.Send(s.Auth, install, "multipart/form-data; boundary=x", strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc"))
		refused("a form that breaks off", status, answer, http.StatusExpectationFailed, "DataError", "Invalid request body")
		status, answer = s.Upload(s.Auth, install, make([]byte, 64<<20+1))
		refused("too large", status, answer, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError", "67108864")
		status, answer = s.Upload(s.Auth, install, make([]byte, 80<<20))
		refused("far too large", status, answer, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError", "67108864")

		in.Run("user", "add", "jane@example.com", "--first-name", "Jane")
		jane := in.Keys("jane@example.com")
		status, answer = s.Upload(jane, install, whole)
		refused("no System Manager", status, answer, http.StatusForbidden, "PermissionError", "")
		status, answer = s.Upload("", install, whole)
		refused("nobody", status, answer, http.StatusForbidden, "PermissionError", "")
		status, answer = s.Upload("token no:body", install, whole)
		refused("wrong credentials", status, answer, http.StatusUnauthorized, "AuthenticationError", "")
		calls("acme.a.echo", http.StatusOK, "")
		list := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.a", nil).([]any)[0].(map[string]any)
		if list["version"] != "4" {
			t.Errorf("version %v serves", list["version"])
		}

		// A bundle is not bounded by what a request may bring otherwise.
		in.Run("site", "config", "default", "set", "max_file_size", "100")
		armaturetest.Eventually(t, "other bodies are bounded", func() bool {
			status, _ := s.Call("POST", "/api/resource/ToDo", map[string]any{"description": strings.Repeat("x", 200)})
			return status == http.StatusRequestEntityTooLarge
		})
		if status, answer := s.Upload(s.Auth, install, whole); status != http.StatusOK {
			t.Errorf("beside a small max_file_size: %d %v", status, answer)
		}
	})
}
