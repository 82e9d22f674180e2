package public_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/core/route"
)

// TestLive: a page says which state it is of, and the stream of events tells when there
// is another; where nobody asked for that there is none of it.
func TestLive(t *testing.T) {
	f := serve(t, map[string]string{"index.html": "<p>home", "a.js": "1"})
	for _, path := range []string{"/_live", "/_live.js"} {
		if r := f.ask("GET", path); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	if got := text(t, f.ask("GET", "/")); got != "<p>home" {
		t.Errorf("a page that nobody is writing: %s", got)
	}
	f.live = true
	home := f.ask("GET", "/")
	page := text(t, home)
	_, since, ok := strings.Cut(page, `<script src="/_live.js?since=`)
	since, _, _ = strings.Cut(since, `"`)
	if !ok || !strings.HasPrefix(page, "<p>home") || home.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(home.Header.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Fatalf("%v %s", home.Header, page)
	}
	if got := text(t, f.ask("GET", "/a.js")); got != "1" {
		t.Errorf("a script: %s", got)
	}
	if r := f.ask("GET", "/_live.js"); r.StatusCode != 200 || !strings.Contains(text(t, r), "EventSource") {
		t.Errorf("the script: %d", r.StatusCode)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f.Page(r.URL.Path)(w, r, &route.Call{}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	events, err := http.Get(server.URL + "/_live")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	next := func() string {
		for lines.Scan() {
			if mark, is := strings.CutPrefix(lines.Text(), "data: "); is {
				return mark
			}
		}
		return ""
	}
	if mark := next(); mark != since {
		t.Errorf("the stream begins with %q, the page is of %q", mark, since)
	}
	f.put("a.js", "2")
	if mark := next(); mark == since || mark == "" {
		t.Errorf("after a change: %q", mark)
	}
}
