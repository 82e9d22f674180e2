package main_test

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

	"armature/cmd/armature/armaturetest"
	"armature/plugins/plugintest"
)

// TestInstallOverHTTP: what one server installs, another one on the same data
// serves within moments, and commands change both.
func TestInstallOverHTTP(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		a := in.Serve()
		a.Auth = in.Keys("Administrator")
		b := in.Serve()
		b.Auth = a.Auth
		version := func(n string) []byte {
			return plugintest.Asks(t, "acme.a", n, n, map[string]any{"methods": []any{
				map[string]any{"path": "acme.a.v" + n, "export": "echo"},
			}})
		}
		answers := func(s *armaturetest.Server, path string) bool {
			status, _ := s.Call("POST", "/api/method/"+path, map[string]any{})
			return status == http.StatusOK
		}
		a.Install(version("1"))
		if !answers(a, "acme.a.v1") {
			t.Fatal("the server that installed it does not answer")
		}
		armaturetest.Eventually(t, "the other server answers", func() bool { return answers(b, "acme.a.v1") })
		file := filepath.Join(t.TempDir(), "a.wasm")
		if err := os.WriteFile(file, version("2"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := in.Run("plugin", "install", "--dry-run", file); !strings.Contains(out, "would install acme.a 2 in place of 1") {
			t.Errorf("dry run: %s", out)
		}
		in.Run("plugin", "install", file)
		armaturetest.Eventually(t, "both serve the next version", func() bool { return answers(a, "acme.a.v2") && answers(b, "acme.a.v2") })
		in.Run("plugin", "rollback", "acme.a")
		armaturetest.Eventually(t, "both serve the version before", func() bool { return answers(a, "acme.a.v1") && answers(b, "acme.a.v1") })
		in.Run("plugin", "disable", "acme.a")
		armaturetest.Eventually(t, "it is disabled", func() bool { return !answers(a, "acme.a.v1") && !answers(b, "acme.a.v1") })
		if out := in.Run("plugin", "list"); !strings.Contains(out, "Disabled") {
			t.Errorf("list: %s", out)
		}
		in.Run("plugin", "enable", "acme.a")
		a.Stop()
		armaturetest.Eventually(t, "it is back", func() bool { return answers(b, "acme.a.v1") })
		again := in.Serve()
		again.Auth = b.Auth
		if !answers(again, "acme.a.v1") {
			t.Error("a server that starts later does not serve it")
		}
		in.Run("plugin", "uninstall", "acme.a")
		armaturetest.Eventually(t, "it is gone", func() bool { return !answers(again, "acme.a.v1") })
	})
}

// TestFetchOfPlugin: a plugin reaches what an administrator has approved, and a
// private address only where the site names it.
func TestFetchOfPlugin(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("X-Test"), body)
	}))
	defer outside.Close()
	host := strings.TrimPrefix(outside.URL, "http://")
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	s.Install(plugintest.Asks(t, "acme.a", "1", "1", map[string]any{"allowed_hosts": []string{host}}, "http_fetch", "kv_set", "kv_get"))
	fetch := func(url string) (int, map[string]any) {
		return s.Call("POST", "/api/method/acme.a.http_fetch", map[string]any{
			"url": url, "method": "PUT", "headers": map[string]any{"X-Test": "yes"}, "body": "hello",
		})
	}
	refused := func(why, want string) {
		t.Helper()
		if status, answer := fetch(outside.URL + "/x"); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(answer), want) {
			t.Fatalf("%s: %d %v", why, status, answer)
		}
	}
	if status, answer := fetch(outside.URL); status == http.StatusOK {
		t.Fatalf("before approval: %v", answer)
	}
	in.Run("plugin", "approve", "acme.a")
	armaturetest.Eventually(t, "the grant is there", func() bool {
		_, answer := fetch(outside.URL)
		return strings.Contains(fmt.Sprint(answer), "may not be reached")
	})
	refused("a private address", "may not be reached")
	in.Run("site", "config", "default", "set", "allowed_private_hosts", `["`+host+`"]`)
	armaturetest.Eventually(t, "the plugin reaches it", func() bool {
		status, answer := fetch(outside.URL)
		message, _ := answer["message"].(map[string]any)
		return status == http.StatusOK && message["status"] == 200.0 && message["body"] == "PUT yes hello"
	})
	if status, _ := fetch("http://localhost:1/"); status != http.StatusForbidden {
		t.Errorf("another host: %d", status)
	}

	// What a plugin keeps it finds again; a GET keeps nothing.
	s.Want("POST", "/api/method/acme.a.kv_set", map[string]any{"key": "k", "value": 1})
	s.Want("GET", "/api/method/acme.a.kv_set?key=k&value=2", nil)
	if v := s.Want("POST", "/api/method/acme.a.kv_get", map[string]any{"key": "k"}); v != 1.0 {
		t.Errorf("kept %v", v)
	}
}

// TestFailedCalls: a failed call is counted, logged, and where the site wants it
// kept and run again.
func TestFailedCalls(t *testing.T) {
	in := armaturetest.New(t)
	in.Run("site", "new", "default")
	in.Run("site", "config", "default", "set", "record_failed_calls", "true")
	file := filepath.Join(t.TempDir(), "a.wasm")
	if err := os.WriteFile(file, plugintest.Asks(t, "acme.a", "1", "1", nil, "doc_get"), 0o600); err != nil {
		t.Fatal(err)
	}
	in.Run("plugin", "install", file)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	for range 2 {
		if status, _ := s.Call("POST", "/api/method/acme.a.doc_get", map[string]any{"doctype": "ToDo", "name": "none"}); status != http.StatusNotFound {
			t.Fatalf("status %d", status)
		}
	}
	resp, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`armature_plugin_calls_total{method="acme.a.doc_get",plugin="acme.a"} 2`,
		`armature_plugin_errors_total{method="acme.a.doc_get",plugin="acme.a",type="DoesNotExistError"} 2`,
		`armature_plugin_fuel_count{method="acme.a.doc_get",plugin="acme.a"} 2`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	lines := s.Want("GET", "/api/method/framework.plugins.logs?plugin=acme.a", nil).([]any)
	if len(lines) != 2 || lines[0].(map[string]any)["type"] != "DoesNotExistError" {
		t.Errorf("logs %v", lines)
	}
	armaturetest.Eventually(t, "the log is there for commands", func() bool {
		out, _, err := in.Try("", "plugin", "logs", "acme.a", "-n", "1")
		return err == nil && strings.Count(out, "plugin call failed") == 1
	})
	files, err := filepath.Glob(filepath.Join(in.Data, "sites", "default", "failed_calls", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("kept %v, %v", files, err)
	}
	var got struct {
		Same     bool           `json:"same"`
		Recorded map[string]any `json:"recorded"`
		Now      map[string]any `json:"now"`
	}
	if err := json.Unmarshal([]byte(in.Run("plugin", "replay", "--json", files[0])), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Same || got.Now["fuel"] != got.Recorded["fuel"] || got.Now["fuel"] == 0.0 {
		t.Errorf("replayed %+v", got)
	}

	// Another plugin asks for something else.
	other := filepath.Join(t.TempDir(), "b.wasm")
	if err := os.WriteFile(other, plugintest.Asks(t, "acme.a", "2", "2", map[string]any{
		"methods": []any{map[string]any{"path": "acme.a.doc_get", "export": "echo"}},
	}, "doc_get"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], bytes.Replace(text, []byte(`"export": "doc_get"`), []byte(`"export": "echo"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr, err := in.Try("", "plugin", "replay", "--plugin", other, files[0]); err == nil || !strings.Contains(stderr, "otherwise") {
		t.Errorf("%v: %s", err, out)
	}
	arguments := filepath.Join(t.TempDir(), "arguments.json")
	if err := os.WriteFile(arguments, []byte(`{"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, err := in.Try("", "plugin", "run", "acme.a.echo", "--input", arguments)
	if err != nil || strings.TrimSpace(out) != `{"a":1}` && strings.TrimSpace(out) != `{"a": 1}` || !strings.Contains(stderr, "instructions") {
		t.Errorf("run: %v %s %s", err, out, stderr)
	}
}

// TestRejectedInFolder: a plugin in the folder that cannot be loaded is listed with
// the reason, and its log has it too, whether or not its manifest could be read.
func TestRejectedInFolder(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	in.Todo(filepath.Join(in.Data, "plugins"))
	armaturetest.Eventually(t, "the plugin serves", func() bool {
		status, _ := s.Call("GET", "/api/method/acme.todo.summary", nil)
		return status == http.StatusOK
	})
	for _, tt := range []struct{ file, name, text, want string }{
		{"acme.shop.ts", "acme.shop", "export const manifest = {\n  grants: ['doc_gte'],\n};", "acme.shop.ts:2:12: grants[0]: expected"},
		{"acme.half.js", "acme.half", "export function f() {\n", "acme.half.js:2:"},
		{"text.wasm", "text", "<html>", "not a WebAssembly module"},
		{"acme.todo.js", "acme.todo", "export function f() {}", "acme.todo"},
	} {
		armaturetest.Put(t, filepath.Join(in.Data, "plugins", tt.file), []byte(tt.text))
		var entry map[string]any
		armaturetest.Eventually(t, tt.file+" is listed", func() bool {
			for _, e := range s.Want("GET", "/api/method/framework.plugins.list", nil).([]any) {
				if entry = e.(map[string]any); strings.HasSuffix(entry["source"].(string), tt.file) {
					return true
				}
			}
			return false
		})
		if entry["name"] != tt.name || entry["status"] != "Error" || !strings.Contains(fmt.Sprint(entry["error"]), tt.want) {
			t.Errorf("%s: %v", tt.file, entry)
		}
		if out := in.Run("plugin", "list"); !strings.Contains(out, tt.file) || !strings.Contains(out, tt.want) {
			t.Errorf("plugin list: %s", out)
		}
		armaturetest.Eventually(t, tt.file+" is in the log", func() bool {
			out, _, _ := in.Try("", "plugin", "logs", tt.name)
			return strings.Contains(out, "plugin not loaded") && strings.Contains(out, tt.want)
		})
		if _, stderr, err := in.Try("", "plugin", "inspect", filepath.Join(in.Data, "plugins", tt.file)); tt.name != "acme.todo" && (err == nil || !strings.Contains(stderr, tt.want)) {
			t.Errorf("inspect: %v %s", err, stderr)
		}
	}
	s.Want("GET", "/api/method/acme.todo.summary", nil)
}

// TestPluginsFromElsewhere: a command that names the data folder by another path
// than the server sees the same plugins.
func TestPluginsFromElsewhere(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	in.Drop("shop.js", "export function hello() { return 1; }\n")
	armaturetest.Eventually(t, "the plugin is recorded", func() bool {
		return len(s.Want("GET", "/api/method/framework.plugins.list", nil).([]any)) == 1
	})
	cmd := in.Command("plugin", "list", "--json", "--data", ".")
	cmd.Dir = in.Data
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 || list[0]["status"] != "Active" {
		t.Errorf("%v: %s", err, out)
	}
}
