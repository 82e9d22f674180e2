package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoKit drives a plugin of the kit for Go through all that a plugin does.
func TestGoKit(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/x-pong")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s to %s from %s", body, r.URL.Path, r.Header.Get("X-Asked-By"))
	}))
	defer other.Close()
	host := strings.TrimPrefix(other.URL, "http://")

	text, err := os.ReadFile("gokit/armature.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest := bytes.ReplaceAll(text, []byte("HOST"), []byte(host))
	wasm := build(t, "gokit", []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-buildmode=c-shared", "-o", "OUT", ".")
	s := serve(t)
	s.drop("kit", manifest, wasm)
	eventually(t, "the plugin serves", func() bool { return s.plugins()["t.kit"] })

	// Input, output, errors. The variable is kept in the plugin's store.
	s.want(s.text("t.kit.count_vowels", "Hello, World!", "guest"), `{"count":3,"total":3,"vowels":"aeiouAEIOU"}`)
	s.want(s.call("t.kit.count_vowels", "application/x-www-form-urlencoded", "text=aa"), `{"count":2,"total":5,"vowels":"aeiouAEIOU"}`)
	s.want(s.call("t.kit.count_body", "text/plain; charset=utf-8", "Zoë, Ada"), `{"count":3,"total":8,"vowels":"aeiouAEIOU"}`)
	s.want(s.call("t.kit.count_body", "application/json", `{"x":"e"}`), `{"count":1,"total":9,"vowels":"aeiouAEIOU"}`)
	s.refused(s.text("t.kit.count_vowels", "xyz"), http.StatusExpectationFailed, "there is nothing to count")
	s.refused(s.text("t.kit.crash", ""), http.StatusInternalServerError, "PluginTrapError")
	s.refused(s.text("t.kit.count_body", "", "guest"), http.StatusForbidden, "PermissionError")

	// Configuration and the log.
	s.run("site", "config", "default", "set", "plugins", `{"t.kit": {"vowels": "xyz"}}`)
	eventually(t, "the setting is there", func() bool {
		return strings.Contains(string(s.text("t.kit.count_vowels", "xyzzy").Message), `"vowels":"xyz"`)
	})
	if lines := string(s.run("plugin", "logs", "t.kit")); !strings.Contains(lines, "counted 3") {
		t.Errorf("the log has %s", lines)
	}

	// HTTP: approved by an administrator, and private only where the site says so.
	s.refused(s.text("t.kit.fetch", other.URL+"/a"), http.StatusForbidden, "not granted http_fetch")
	s.run("plugin", "approve", "t.kit")
	eventually(t, "the grant is there", func() bool {
		return !strings.Contains(s.text("t.kit.fetch", other.URL+"/a").Exc, "not granted")
	})
	s.refused(s.text("t.kit.fetch", other.URL+"/a"), http.StatusForbidden, "PermissionError")
	s.run("site", "config", "default", "set", "allowed_private_hosts", fmt.Sprintf("[%q]", host))
	eventually(t, "the host may be reached", func() bool { return s.text("t.kit.fetch", other.URL+"/a").status == http.StatusOK })
	s.want(s.text("t.kit.fetch", other.URL+"/a"), `{"body":"ping to /a from extism","status":418,"type":"text/x-pong"}`)
	s.refused(s.text("t.kit.fetch", "https://example.org/"), http.StatusForbidden, "PermissionError")

	// Documents: as the caller, in the request's transaction; events.
	var name string
	a := s.text("t.kit.add", "call Zoë now")
	if err := json.Unmarshal(a.Message, &name); err != nil {
		t.Fatalf("%d %s %s", a.status, a.Message, a.Exc)
	}
	get := fmt.Sprintf(`{"name":%q}`, name)
	s.want(s.call("t.kit.get", "application/json", get),
		fmt.Sprintf(`{"doctype":"ToDo","name":%q,"description":"call Zoë now","priority":"High"}`, name))
	s.refused(s.call("t.kit.get", "application/json", get, "guest"), http.StatusForbidden, "PermissionError")
	s.refused(s.call("t.kit.get", "application/json", `{"name":"none"}`), http.StatusNotFound, "DoesNotExistError")
	s.refused(s.text("t.kit.add", "never"), http.StatusExpectationFailed, "never say never")

	// Another version takes its place, and one that is broken does not.
	s.drop("kit", bytes.Replace(manifest, []byte(`"t.kit.crash"`), []byte(`"t.kit.crash2"`), 1), wasm)
	eventually(t, "the next version serves", func() bool { return strings.Contains(s.text("t.kit.crash2", "").Exc, "PluginTrapError") })
	file := filepath.Join(t.TempDir(), "kit.wasm")
	source := filepath.Join(s.data, "plugins", "kit")
	s.run("plugin", "build", "--module", filepath.Join(source, "plugin.wasm"), "-o", file, source)
	if said := string(s.run("plugin", "inspect", file)); !strings.Contains(said, "t.kit.count_body") || !strings.Contains(said, "from a snapshot") ||
		!strings.Contains(said, "grant    http_fetch") {
		t.Errorf("inspect: %s", said)
	}
}

// TestDocumentedPlugin: the plugin in sdk/abi/extism.md is one.
func TestDocumentedPlugin(t *testing.T) {
	text, err := os.ReadFile("../../../sdk/abi/extism.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(text), "```go\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed {
		t.Fatal("extism.md has no Go in it")
	}
	// Below this module, whose kit it needs; a folder of this name is no package of it.
	dir, err := os.MkdirTemp(".", "_documented")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	code = "package main\n\nimport (\n\"encoding/json\"\n\n\"github.com/extism/go-pdk\"\n)\n\nfunc main() {}\n\n" + code
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	wasm := build(t, dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-buildmode=c-shared", "-o", "OUT", ".")
	s := serve(t)
	s.drop("status", []byte(`{"name": "t.status", "version": "1", "abi": 1, "grants": ["doc_get"],
		"methods": [{"path": "t.status.get", "export": "status", "allow_guest": true}]}`), wasm)
	eventually(t, "the plugin serves", func() bool { return s.plugins()["t.status"] })
	var todo struct{ Name string }
	a := s.call("framework.client.insert", "application/json", `{"doc": {"doctype": "ToDo", "description": "call Zoë"}}`)
	if err := json.Unmarshal(a.Message, &todo); err != nil {
		t.Fatalf("%d %s %s", a.status, a.Message, a.Exc)
	}
	key := fmt.Sprintf(`{"doctype": "ToDo", "name": %q}`, todo.Name)
	s.want(s.call("t.status.get", "application/json", key), `"Open"`)
	s.refused(s.call("t.status.get", "application/json", key, "guest"), http.StatusForbidden, "PermissionError")
	s.refused(s.call("t.status.get", "application/json", `{"doctype": "ToDo", "name": "none"}`), http.StatusNotFound, "DoesNotExistError")
}

// TestAssemblyScriptKit: the kit's example, and what only Extism's own memory lets
// pass, a text that is written past the end of its block.
func TestAssemblyScriptKit(t *testing.T) {
	need(t, "npm", "node")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("assemblyscript")); err != nil {
		t.Fatal(err)
	}
	wasm := build(t, dir, nil, "sh", "-c", "npm ci --ignore-scripts --no-audit --no-fund && "+
		"npx asc plugin.ts --outFile OUT --use abort=plugin/onAbort -O")
	s := serve(t)
	s.drop("as", []byte(`{"name": "t.as", "version": "1", "abi": 1, "methods": [
		{"path": "t.as.count_vowels", "export": "count_vowels", "input": "text"},
		{"path": "t.as.greet", "export": "greet", "input": "text"},
		{"path": "t.as.fail", "export": "fail", "input": "text"}]}`), wasm)
	eventually(t, "the plugin serves", func() bool { return s.plugins()["t.as"] })
	s.want(s.text("t.as.count_vowels", "Hello, World!"), `{"count": 3, "config": "null", "a": "this is var a"}`)
	for _, who := range []string{"Zoe", "you who are reading this, wherever you are, and whatever for"} {
		_, output, err := original(t, wasm, "greet", who)
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, s.text("t.as.greet", who)); got != string(output) {
			t.Errorf("%q; Extism has %q", got, output)
		}
	}
	s.refused(s.text("t.as.fail", ""), http.StatusInternalServerError, "PluginTrapError")
	s.want(s.text("t.as.count_vowels", "a"), `{"count": 1, "config": "null", "a": "this is var a"}`)
}
