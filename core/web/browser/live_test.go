package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLive: a page is told what changes by EventSource, with its session's cookie, from
// another origin that allow_cors names too, and no more once the session has ended.
func TestLive(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *server) {
		s.user("jane@example.com", "Jane", "Doe", "System Manager")
		public := filepath.Join(s.data, "sites", "default", "public")
		if err := os.MkdirAll(public, 0o700); err != nil {
			t.Fatal(err)
		}
		page := `<!doctype html><html lang="en"><title>Desk</title><link rel="icon" href="data:,"><p>Desk</p></html>`
		if err := os.WriteFile(filepath.Join(public, "index.html"), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		shop, stranger := frontend(t), frontend(t)
		s.allow(shop.URL, fmt.Sprintf("[%q]", shop.URL))
		b := newTab(t, s, looks[0])
		b.login("jane@example.com")
		path := s.origin + "/api/live?doctype=ToDo&fields=%5B%22description%22%5D"
		follow := func() string {
			t.Helper()
			return asks[string](b, fmt.Sprintf(`new Promise((done) => {
				window.told = [];
				window.source = new EventSource(%q, { withCredentials: true });
				for (const kind of ["changed", "removed", "end"]) source.addEventListener(kind, (e) => told.push(kind + " " + e.data));
				source.addEventListener("ready", () => done("ready"));
				source.onerror = () => { told.push("error"); if (source.readyState === EventSource.CLOSED) done("refused"); };
			})`, path))
		}
		hears := func(what string) {
			t.Helper()
			asks[bool](b, fmt.Sprintf(`new Promise((done) => { const look = () => told.some((t) => t.includes(%q)) ? done(true) : setTimeout(look, 20); look(); })`, what))
		}
		for _, origin := range []string{s.origin + "/", shop.URL + "/"} {
			b.becomes(origin, map[bool]string{true: "Desk", false: "Shop"}[origin == s.origin+"/"])
			if got := follow(); got != "ready" {
				t.Fatalf("%s: %s", origin, got)
			}
			s.api("POST", "/api/resource/ToDo", map[string]any{"description": "for " + origin})
			hears("for " + origin)
		}
		b.open(stranger.URL + "/")
		if got := follow(); got != "refused" {
			t.Errorf("a stranger's page: %s", got)
		}
		b.forget()

		b.open(shop.URL + "/")
		follow()
		s.command(password+" anew\n", "user", "password", "jane@example.com") // which ends all sessions
		hears("end ")
		s.api("POST", "/api/resource/ToDo", map[string]any{"description": "secret"})
		hears("error") // it comes again by itself, and is refused
		if asks[bool](b, `told.some((t) => t.includes("secret"))`) {
			t.Error("a session that has ended is told")
		}
		b.forget()
	})
}
