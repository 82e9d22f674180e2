package guide_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"armature/core/docs/guide"
	"armature/core/sites/sitetest"
)

// TestPages: everybody reads every page, under a policy that lets run what is in it and
// nothing else; and as it was written.
func TestPages(t *testing.T) {
	s := sitetest.New(t, "")
	book, err := guide.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range book.Pages {
		r := s.Guest.Get(p.URL())
		if r.Status != 200 || !strings.Contains(r.Text, "<title>"+p.Title+" · ") || r.Header.Get("ETag") == "" {
			t.Errorf("%s: %d %.300s", p.URL(), r.Status, r.Text)
		}
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "form-action 'none'", "frame-ancestors 'none'", "trusted-types 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("policy %q has no %s", policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(r.Text, "style=") {
			t.Errorf("%s has styles of its own, or a policy that lets it: %q", p.Name, policy)
		}
		plain := s.Guest.Get("/app/docs/" + p.Name + ".md")
		if plain.Status != 200 || plain.Text != string(p.Source) || plain.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s.md: %d %s", p.Name, plain.Status, plain.Header.Get("Content-Type"))
		}
	}
	for path, want := range map[string]int{"/app/docs/": 200, "/app/docs/README": 404, "/app/docs/nothing": 404, "/app/docs/nothing.md": 404, "/app/docs/search.json": 200, "/app/docs/start/more": 404} {
		if r := s.Guest.Get(path); r.Status != want {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	if r := s.Admin.Do(http.MethodPost, "/app/docs", "", nil); r.Status != 405 || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", r.Status)
	}
}

// TestForPrograms: /llms.txt leads to each page as it was written.
func TestForPrograms(t *testing.T) {
	s := sitetest.New(t, "")
	r := s.Guest.Get("/llms.txt")
	if r.Status != 200 || !strings.HasPrefix(r.Text, "# ") {
		t.Fatal(r.Status, r.Text)
	}
	book, err := guide.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range book.Pages[1:] {
		if !strings.Contains(r.Text, "](/app/docs/"+p.Name+".md)") {
			t.Errorf("%s is not listed", p.Name)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(r.Text, -1) {
		if got := s.Guest.Get(link[1]); got.Status != 200 {
			t.Errorf("%s: %d", link[1], got.Status)
		}
	}
}

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// TestLinks: each link of each page leads somewhere, and where it names a place in a
// page that is there.
func TestLinks(t *testing.T) {
	s := sitetest.New(t, "")
	book, err := guide.Read()
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, p := range book.Pages {
		bodies[p.URL()] = s.Guest.Get(p.URL()).Text
	}
	reached := map[string]bool{}
	for from, body := range bodies {
		for _, m := range hrefs.FindAllStringSubmatch(body, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case strings.HasPrefix(to, "https://"):
				continue
			case to == "":
				to = from
			}
			target, page := bodies[to]
			if !page && s.Guest.Get(to).Status != 200 {
				t.Errorf("%s leads to %s, where nothing is", from, m[1])
			}
			if anchor != "" && !strings.Contains(target, `id="`+anchor+`"`) {
				t.Errorf("%s leads to %s, where there is no such heading", from, m[1])
			}
			if to != from {
				reached[to] = true
			}
		}
	}
	for _, p := range book.Pages {
		if !reached[p.URL()] {
			t.Errorf("nothing leads to %s", p.URL())
		}
	}
}
