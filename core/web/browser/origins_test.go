package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestOtherOrigins: a page served elsewhere calls the API with a cookie, a key and a
// bearer token as far as allow_cors names its origin, and no further.
func TestOtherOrigins(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	shop, stranger := frontend(t), frontend(t)
	b := newTab(t, s, looks[0])
	ask := func(from *httptest.Server, verb, path, options, body string) string {
		t.Helper()
		b.open(from.URL + "/")
		return asks[string](b, fmt.Sprintf(`fetch(%q, {method: %q, headers: {"Content-Type": "application/json", ...%s.headers}, credentials: %s.credentials, body: %s})
			.then(async r => r.status + " " + (r.headers.get("X-Framework-Request-Id") ? "id " : "") + await r.text(), e => "blocked")`,
			s.origin+path, verb, options, options, body))
	}
	const (
		cookie   = `({credentials: "include"})`
		note     = `JSON.stringify({description: "from elsewhere"})`
		password = `JSON.stringify({usr: "jane@example.com", pwd: "` + password + `"})`
	)
	key := fmt.Sprintf(`({credentials: "omit", headers: {Authorization: %q}})`, s.authorization)
	bearer := fmt.Sprintf(`({credentials: "omit", headers: {Authorization: %q}})`, "Bearer "+s.accessToken(t, "jane@example.com"))
	want := func(what, got, begins string) {
		t.Helper()
		if !strings.HasPrefix(got, begins) {
			t.Errorf("%s: %s, want %s", what, got, begins)
		}
		b.forget()
	}

	want("nobody is named", ask(shop, "GET", "/api/resource/ToDo", key, "undefined"), "blocked")
	s.allow(shop.URL, fmt.Sprintf("[%q]", shop.URL))
	want("login", ask(shop, "POST", "/api/method/login", cookie, password), "200 id ")
	want("create with the cookie", ask(shop, "POST", "/api/resource/ToDo", cookie, note), "200 id ")
	want("list with the cookie", ask(shop, "GET", "/api/resource/ToDo", cookie, "undefined"), "200 id ")
	want("a refusal is read as well", ask(shop, "GET", "/api/resource/ToDo/none", cookie, "undefined"), "404 id ")
	want("a key", ask(shop, "POST", "/api/resource/ToDo", key, note), "200 id ")
	want("a bearer token", ask(shop, "PUT", "/api/resource/ToDo/none", bearer, note), "404 id ")
	want("the login page of the site", ask(shop, "GET", "/login", cookie, "undefined"), "blocked")
	want("a stranger with the cookie", ask(stranger, "POST", "/api/resource/ToDo", cookie, note), "blocked")
	want("a stranger with a key", ask(stranger, "POST", "/api/resource/ToDo", key, note), "blocked")

	s.allow(stranger.URL, `"*"`)
	want("anybody with a key", ask(stranger, "POST", "/api/resource/ToDo", key, note), "200 id ")
	want("anybody with a bearer token", ask(stranger, "GET", "/api/resource/ToDo", bearer, "undefined"), "200 id ")
	want("anybody with the cookie", ask(stranger, "GET", "/api/resource/ToDo", cookie, "undefined"), "blocked")
	want("anybody writing with the cookie", ask(stranger, "POST", "/api/resource/ToDo", cookie, note), "blocked")
	if n := len(s.api("GET", "/api/resource/ToDo", map[string]any{}).([]any)); n != 3 {
		t.Errorf("%d ToDos were made, want those of the cookie, of the key and of anybody's key", n)
	}
}

// accessToken is one for everything, as a user gives it to an application.
func (s *server) accessToken(t *testing.T, user string) string {
	t.Helper()
	a := s.app("Shop", "all")
	b := newTab(t, s, looks[0])
	b.login(user)
	b.open(a.ask("all"))
	b.click("button[value=allow]")
	token, _ := a.tokens(a.answer(b).Get("code"))
	return token
}

// forget drops what the browser complained about: that it keeps a page from reading
// what it may not is what it is to do.
func (b *tab) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = nil
}

// frontend is a server of pages on an origin of its own.
func frontend(t *testing.T) *httptest.Server {
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Shop</title><p>Shop</p></html>`)
	}))
	t.Cleanup(f.Close)
	return f
}

// allow sets allow_cors and waits until the server goes by it for an origin.
func (s *server) allow(origin, value string) {
	s.t.Helper()
	s.configure("allow_cors", value)
	deadline := time.Now().Add(2 * time.Minute)
	for range time.Tick(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.origin+"/api/method/ping", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		res.Body.Close()
		if res.Header.Get("Access-Control-Allow-Origin") == origin {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the server does not let %s in", origin)
		}
	}
}
