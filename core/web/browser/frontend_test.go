package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLiveReload: a page of the frontend shows what was saved, without anybody loading
// it again, under the policy that the platform gives it.
func TestLiveReload(t *testing.T) {
	s := serve(t)
	s.configure("live_reload", "true")
	s.answers("/_live.js") // the server has seen the setting
	dir := filepath.Join(s.data, "sites", "default", "public")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("index.html", `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><p id="it"></p><script type="module" src="main.ts"></script></html>`)
	put("main.ts", `const word: string = "first"; document.getElementById("it")!.textContent = word;`)
	b := newTab(t, s, looks[0])
	b.open(s.origin + "/")
	b.comesToShow("first")
	put("main.ts", `const word: string = "second, after a change"; document.getElementById("it")!.textContent = word;`)
	b.comesToShow("second, after a change")
}

// answers waits until the server has something at a path.
func (s *server) answers(path string) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for range time.Tick(20 * time.Millisecond) {
		r, err := http.Get(s.origin + path)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil {
			s.t.Fatal(err)
		}
		if r.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is %d", path, r.StatusCode)
		}
	}
}

// comesToShow waits until the page has a text, whoever loads it meanwhile.
func (b *tab) comesToShow(want string) {
	b.t.Helper()
	b.waitForText(want, func(got string) bool { return got == want })
}

// comesToSay waits until a part of the page does.
func (b *tab) comesToSay(part string) {
	b.t.Helper()
	b.waitForText(part, func(got string) bool { return strings.Contains(got, part) })
}

func (b *tab) waitForText(want string, is func(string) bool) {
	b.t.Helper()
	deadline, got := time.Now().Add(2*time.Minute), ""
	for range time.Tick(50 * time.Millisecond) {
		var err error
		if got, err = chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText")); err == nil && is(got) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the page shows %q, want %q (%v)", got, want, err)
		}
	}
}
