package main_test

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestLive: a plugin tells those who may call its method something, once its request is
// committed, and a stream tells of a document that it made.
func TestLive(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "default")
		in.Run("user", "add", "zoe@example.com")
		in.Drop("acme.shop.js", `
			export const manifest = { version: "1", grants: ["publish", "resource:ToDo:write"], methods: [
				{ path: "acme.shop.progress" }, { path: "acme.shop.secret", roles: ["System Manager"] }, { path: "acme.shop.work" }, { path: "acme.shop.steal" }] };
			export function progress() {}
			export function secret() {}
			export function work({ fail }) {
				publish("acme.shop.progress", { done: 1,
					of: "a\nb" });
				publish("acme.shop.progress", "for Zoe", { user: "zoe@example.com" });
				publish("acme.shop.secret", 2);
				doc.insert("ToDo", { description: "made" });
				if (fail) throw new ValidationError("no");
			}
			export function steal() { publish("framework.ping", 1) }
		`)
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		armaturetest.Eventually(t, "acme.shop.progress answers", func() bool {
			status, _ := s.Call("GET", "/api/method/acme.shop.progress", nil)
			return status == http.StatusOK
		})
		admin := listen(t, s.URL, s.Auth, `[{"id":"p","topic":"acme.shop.progress"},{"id":"s","topic":"acme.shop.secret"},{"id":"t","doctype":"ToDo","fields":["description"]}]`)
		zoe := listen(t, s.URL, in.Keys("zoe@example.com"), `[{"id":"p","topic":"acme.shop.progress"}]`)
		s.Call("POST", "/api/method/acme.shop.work", map[string]any{"fail": true})
		s.Call("GET", "/api/method/acme.shop.work", nil)
		if status, answer := s.Call("POST", "/api/method/acme.shop.steal", map[string]any{}); status != http.StatusForbidden {
			t.Errorf("publishing to a method of the platform: %d %v", status, answer)
		}
		if status, answer := s.Call("POST", "/api/method/acme.shop.work", map[string]any{}); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		admin.wants(`{"subscription":"t","doctype":"ToDo",`, `{"subscription":"p","topic":"acme.shop.progress","data":{"done":1,"of":"a\nb"}}`,
			`{"subscription":"s","topic":"acme.shop.secret","data":2}`)
		zoe.wants(`{"subscription":"p","topic":"acme.shop.progress","data":{"done":1,"of":"a\nb"}}`, `{"subscription":"p","topic":"acme.shop.progress","data":"for Zoe"}`)
		if status := follow(t, s.URL, in.Keys("zoe@example.com"), `[{"topic":"acme.shop.secret"}]`).StatusCode; status != http.StatusForbidden {
			t.Errorf("following a method that one may not call: %d", status)
		}
	})
}

// follow opens a stream.
func follow(t *testing.T, address, auth, subscribe string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/live?subscribe="+url.QueryEscape(subscribe), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", auth)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// listener reads what a stream tells.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
}

// listen opens a stream and waits until it is ready.
func listen(t *testing.T, address, auth, subscribe string) *listener {
	t.Helper()
	res := follow(t, address, auth, subscribe)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	l := &listener{t, bufio.NewScanner(res.Body)}
	l.data()
	return l
}

// data is that of the next event.
func (l *listener) data() string {
	l.t.Helper()
	for l.lines.Scan() {
		if text, ok := strings.CutPrefix(l.lines.Text(), "data: "); ok {
			return text
		}
	}
	l.t.Fatal("the stream has ended", l.lines.Err())
	return ""
}

// wants demands events whose data begin so, in any order, and no others between them.
func (l *listener) wants(prefixes ...string) {
	l.t.Helper()
	for range len(prefixes) {
		text, found := l.data(), false
		for i, p := range prefixes {
			if p != "" && strings.HasPrefix(text, p) {
				prefixes[i], found = "", true
				break
			}
		}
		if !found {
			l.t.Errorf("told %s, want one of %q", text, prefixes)
		}
	}
}
