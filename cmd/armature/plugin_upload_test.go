package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"armature/plugins/plugintest"
)

// upload posts a form with a bundle, as curl -F does.
func (s *server) upload(auth, path string, file []byte, fields ...string) (int, map[string]any) {
	s.t.Helper()
	return s.uploadAs("todo.wasm", auth, path, file, fields...)
}

// uploadAs posts a form with a file of any name.
func (s *server) uploadAs(name, auth, path string, file []byte, fields ...string) (int, map[string]any) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			s.t.Fatal(err)
		}
	}
	if file != nil {
		part, err := form.CreateFormFile("file", name)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := part.Write(file); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.send(auth, path, form.FormDataContentType(), &body)
}

func (s *server) send(auth, path, media string, body io.Reader) (int, map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Authorization", auth)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

// TestInstallByUpload: curl -F file=@todo.wasm installs a plugin like the JSON
// form does, of whatever size a plugin may have.
func TestInstallByUpload(t *testing.T) {
	const install = "/api/method/framework.plugins.install"
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.serve()
		s.auth = in.keys("Administrator")
		version := func(n string, more map[string]any, capabilities ...string) []byte {
			return plugintest.Asks(t, "acme.a", n, n, more, capabilities...)
		}
		calls := func(path string, want int, excType string) {
			t.Helper()
			status, answer := s.call("POST", "/api/method/"+path, map[string]any{})
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

		status, answer := s.upload(s.auth, install, version("1", map[string]any{"allowed_hosts": []string{"a.example"}}, "kv_get", "http_fetch"), "approve", "http_fetch,http_fetch:a.example")
		message, _ := answer["message"].(map[string]any)
		if status != http.StatusOK || message["plugin"] != "acme.a" || message["status"] != "Active" {
			t.Fatalf("install: %d %v", status, answer)
		}
		calls("acme.a.echo", http.StatusOK, "")
		calls("acme.a.kv_get", http.StatusBadRequest, "BadRequestError") // it has no key
		status, answer = s.upload(s.auth, strings.Replace(install, "install", "plan", 1), version("2", nil))
		if message, _ := answer["message"].(map[string]any); status != http.StatusOK || message["replaces"] != "1" {
			t.Errorf("plan: %d %v", status, answer)
		}

		// A version without a method takes it away.
		if status, answer := s.upload(s.auth, install, version("2", nil)); status != http.StatusOK {
			t.Fatalf("version 2: %d %v", status, answer)
		}
		calls("acme.a.echo", http.StatusOK, "")
		calls("acme.a.kv_get", http.StatusExpectationFailed, "ValidationError")
		if _, answer := s.call("POST", "/api/method/acme.a.kv_get", map[string]any{"key": "k"}); !strings.Contains(fmt.Sprint(answer), "Failed to get method") {
			t.Errorf("a removed method: %v", answer)
		}
		// So does one without an event handler, here one that always fails.
		if status, answer := s.upload(s.auth, install, version("3", map[string]any{"events": map[string]any{"ToDo.validate": "kv_get"}}, "kv_get"), "approve", "all"); status != http.StatusOK {
			t.Fatalf("version 3: %d %v", status, answer)
		}
		todo := map[string]any{"description": "x"}
		if status, answer := s.call("POST", "/api/resource/ToDo", todo); status == http.StatusOK {
			t.Errorf("the handler did not run: %v", answer)
		}
		if status, answer := s.upload(s.auth, install, version("4", nil)); status != http.StatusOK {
			t.Fatalf("version 4: %d %v", status, answer)
		}
		s.want("POST", "/api/resource/ToDo", todo)

		// What is wrong is said, and version 4 serves on.
		status, answer = s.upload(s.auth, install, []byte("<html>"))
		refused("text", status, answer, http.StatusExpectationFailed, "ValidationError", "not a WebAssembly module")
		status, answer = s.upload(s.auth, install, nil)
		refused("no file", status, answer, http.StatusExpectationFailed, "TypeError", "wasm")
		status, answer = s.upload(s.auth, install, []byte{})
		refused("an empty file", status, answer, http.StatusExpectationFailed, "ValidationError", "")
		whole := version("5", nil)
		status, answer = s.upload(s.auth, install, whole[:len(whole)/2])
		refused("half a file", status, answer, http.StatusExpectationFailed, "ValidationError", "")
		status, answer = s.send(s.auth, install, "multipart/form-data; boundary=x", strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc"))
		refused("a form that breaks off", status, answer, http.StatusExpectationFailed, "DataError", "Invalid request body")
		status, answer = s.upload(s.auth, install, make([]byte, 64<<20+1))
		refused("too large", status, answer, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError", "67108864")
		status, answer = s.upload(s.auth, install, make([]byte, 80<<20))
		refused("far too large", status, answer, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError", "67108864")

		in.run("user", "add", "jane@example.com", "--first-name", "Jane")
		jane := in.keys("jane@example.com")
		status, answer = s.upload(jane, install, whole)
		refused("no System Manager", status, answer, http.StatusForbidden, "PermissionError", "")
		status, answer = s.upload("", install, whole)
		refused("nobody", status, answer, http.StatusForbidden, "PermissionError", "")
		status, answer = s.upload("token no:body", install, whole)
		refused("wrong credentials", status, answer, http.StatusUnauthorized, "AuthenticationError", "")
		calls("acme.a.echo", http.StatusOK, "")
		list := s.want("GET", "/api/method/framework.plugins.list?plugin=acme.a", nil).([]any)[0].(map[string]any)
		if list["version"] != "4" {
			t.Errorf("version %v serves", list["version"])
		}

		// A bundle is not bounded by what a request may bring otherwise.
		in.run("site", "config", "default", "set", "max_file_size", "100")
		eventually(t, "other bodies are bounded", func() bool {
			status, _ := s.call("POST", "/api/resource/ToDo", map[string]any{"description": strings.Repeat("x", 200)})
			return status == http.StatusRequestEntityTooLarge
		})
		if status, answer := s.upload(s.auth, install, whole); status != http.StatusOK {
			t.Errorf("beside a small max_file_size: %d %v", status, answer)
		}
	})
}
