package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// away is an installation without data of its own, which reaches a server by its
// address and a key.
func away(t *testing.T, auth string) *armaturetest.Installation {
	return &armaturetest.Installation{T: t, Data: t.TempDir(), Env: []string{"ARMATURE_API_KEY=" + strings.TrimPrefix(auth, "token ")}}
}

// TestHosted: a plugin is installed, called, looked at and removed on a site that
// is reached by its address.
func TestHosted(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		built := in.Todo(t.TempDir())
		client := away(t, s.Auth)
		at := func(args ...string) string { return client.Run(append(args, "--url", s.URL)...) }

		if out := at("plugin", "install", built, "--dry-run"); !strings.Contains(out, "would install acme.todo") {
			t.Errorf("dry run: %s", out)
		}
		if out := at("plugin", "install", built); !strings.Contains(out, "installed acme.todo") {
			t.Errorf("install: %s", out)
		}
		if status, _ := s.Call("GET", "/api/method/acme.todo.summary", nil); status == http.StatusOK {
			t.Error("it serves before somebody has approved what it needs")
		}
		at("plugin", "approve", "acme.todo")
		s.Want("GET", "/api/method/acme.todo.summary", nil)
		if out := at("plugin", "run", "acme.todo.echo", `{"a": "b"}`); strings.TrimSpace(out) != `{"a":"b"}` {
			t.Errorf("run: %s", out)
		}
		if out := at("plugin", "run", "acme.todo.summary", "--verb", "GET"); !strings.Contains(out, "by_status") {
			t.Errorf("run by GET: %s", out)
		}
		_, stderr, err := client.Try("", "plugin", "run", "acme.todo.close", `{"name": "no such"}`, "--url", s.URL)
		if err == nil || !strings.Contains(stderr, "acme.todo.close") || !strings.Contains(stderr, "no such not found") {
			t.Errorf("run what fails: %v %s", err, stderr)
		}
		if out := at("plugin", "logs", "acme.todo"); !strings.Contains(out, "plugin call failed") {
			t.Errorf("logs: %s", out)
		}
		if out := at("plugin", "list"); !strings.Contains(out, "acme.todo") {
			t.Errorf("list: %s", out)
		}
		at("plugin", "disable", "acme.todo")
		at("plugin", "uninstall", "acme.todo")
		if status, _ := s.Call("GET", "/api/method/acme.todo.summary", nil); status != http.StatusExpectationFailed {
			t.Errorf("after it was removed: %d", status)
		}
	})
}

// TestHostedRefused: what stands in the way is said in words that help.
func TestHostedRefused(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	built := in.Todo(t.TempDir())
	in.Run("user", "add", "jane@example.com", "--first-name", "Jane")

	answers := func(status int, header, value, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	old := `{"exc_type":"ValidationError","message":"Failed to get method for command framework.plugins.install"}`
	tests := []struct {
		name, auth, url string
		want            []string
	}{
		{"a wrong secret", s.Auth + "x", s.URL, []string{"does not know this API key"}},
		{"a user who may not", in.Keys("jane@example.com"), s.URL, []string{"System Manager"}},
		{"no key", "", s.URL, []string{"ARMATURE_API_KEY", "key:secret"}},
		{"half a key", "token abc", s.URL, []string{"key:secret"}},
		{"nobody there", s.Auth, nobody.URL, []string{"refused", "hint", nobody.URL}},
		{"no address", s.Auth, "shop.example.org", []string{"expected the address of a site"}},
		{"a path", s.Auth, s.URL + "/somewhere", []string{"does not answer as an Armature site does", "404"}},
		{"another server", s.Auth, answers(200, "Content-Type", "text/html", "<html>"), []string{"does not answer as an Armature site does", "text/html"}},
		{"a redirect", s.Auth, answers(301, "Location", "https://shop.example.org/", ""), []string{"sends on to https://shop.example.org/"}},
		{"a proxy with a limit", s.Auth, answers(413, "Content-Type", "text/html", "<html>"), []string{"413", "proxy"}},
		{"an old server", s.Auth, answers(417, "Content-Type", "application/json", old), []string{"older than this program"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, stderr, err := away(t, tt.auth).Try("", "plugin", "install", built, "--url", tt.url)
			if err == nil {
				t.Fatal("it was installed")
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not in: %s", want, stderr)
				}
			}
			if secret := strings.TrimPrefix(tt.auth, "token "); len(secret) > 10 && strings.Contains(stderr, secret) {
				t.Error("the key is in the error")
			}
		})
	}

	// Grants wait, and the command says how to give them.
	asks := filepath.Join(t.TempDir(), "asks.ts")
	if err := os.WriteFile(asks, []byte(`export const manifest = { name: "acme.asks", grants: ["http_fetch"], allowed_hosts: ["a.example"] };
export function get() { return fetch("https://a.example").status }`), 0o644); err != nil {
		t.Fatal(err)
	}
	client := away(t, s.Auth)
	if out := client.Run("plugin", "install", asks, "--url", s.URL+"/api/"); !strings.Contains(out, "waits for approval: http_fetch, http_fetch:a.example") {
		t.Errorf("install: %s", out)
	}
	if out := client.Run("plugin", "approve", "acme.asks", "--url", s.URL); !strings.Contains(out, "Active") || strings.Contains(out, "waits") {
		t.Errorf("approve: %s", out)
	}
	if _, stderr, err := client.Try("", "plugin", "install", asks, "--all-sites", "--url", s.URL); err == nil || !strings.Contains(stderr, "leave --url out") {
		t.Errorf("for all sites: %v %s", err, stderr)
	}
}

// TestDevElsewhere: plugin dev with a site that is reached by its address, and with
// the folder of a server on this machine. Both show what the plugin logs.
func TestDevElsewhere(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	client := away(t, s.Auth)
	for _, tt := range []struct {
		name string
		dev  func(file string) *armaturetest.Developer
	}{
		{"url", func(file string) *armaturetest.Developer {
			return client.Develop(file, "--url", s.URL, "--approve", "all")
		}},
		{"folder", func(file string) *armaturetest.Developer {
			return in.Develop(file, "--plugins", filepath.Join(in.Data, "plugins"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := "acme." + tt.name
			file := filepath.Join(t.TempDir(), name+".ts")
			source := `export function say({ word }: { word: string }) { console.log("heard", word); return VERSION }
const VERSION = 1;`
			if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			d := tt.dev(file)
			says := func(version float64) {
				t.Helper()
				armaturetest.Eventually(t, "the version answers", func() bool {
					_, answer := s.Call("POST", "/api/method/"+name+".say", map[string]any{"word": "this"})
					return answer["message"] == version
				})
			}
			d.Next("serves")
			says(1)
			if line := d.Next("log"); !strings.Contains(fmt.Sprint(line), "heard this") {
				t.Errorf("logged %v", line)
			}
			armaturetest.Save(t, file, strings.Replace(source, "VERSION = 1", "VERSION = 2", 1))
			d.Next("serves")
			says(2)
			armaturetest.Save(t, file, source+"\nconst const")
			if failed := d.Next("failed"); !strings.Contains(fmt.Sprint(failed), name+".ts:3:") {
				t.Errorf("a mistake: %v", failed)
			}
			says(2)
			if tt.name == "url" { // what was saved in between does not pile up on the site
				list := s.Want("GET", "/api/method/framework.plugins.list?plugin="+name, nil).([]any)
				if versions := list[0].(map[string]any)["versions"].([]any); len(versions) != 1 {
					t.Errorf("versions %v", versions)
				}
			}
			d.Interrupt()
		})
	}
}
