package browser

import (
	"strings"
	"testing"
)

// TestExplorer: who is logged in tries the API from its page, and a key in place of the
// session shows what its user may use. What a DocType and its fields are called is text.
func TestExplorer(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	for _, l := range looks[:2] {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			b.login("jane@example.com")
			b.open("/api/docs")
			waitFor(b, `document.querySelectorAll("details[data-text]").length > 20`)
			b.shows("You see what jane@example.com may use")
			b.fill("#find", "post /api/resource/todo")
			open := `[...document.querySelectorAll("details[data-text]")].filter((d) => !d.hidden)`
			if n := asks[int](b, open+`.length`); n != 1 {
				t.Fatalf("%d operations are found", n)
			}
			asks[bool](b, open+`[0].open = true`)
			waitFor(b, open+`[0].querySelector("textarea")`)
			asks[string](b, `(() => { const t = document.querySelector("textarea"); t.value = '{"description": "it\'s tried"}'; t.dispatchEvent(new Event("input")); return t.value; })()`)
			sample := asks[string](b, open+`[0].querySelector("h3 ~ pre").textContent`)
			if !strings.Contains(sample, s.origin+"/api/resource/ToDo'") || !strings.Contains(sample, `it'\''s tried`) || !strings.Contains(sample, "API_KEY:API_SECRET") {
				t.Errorf("the sample is %s", sample)
			}
			asks[bool](b, `(([...document.querySelectorAll("button")].find((x) => x.textContent === "Try it")).click(), true)`)
			waitFor(b, open+`[0].querySelector("[role=status]").textContent.startsWith("200")`)
			if out := asks[string](b, open+`[0].querySelector("[role=status] + pre").textContent`); !strings.Contains(out, `"owner": "jane@example.com"`) {
				t.Errorf("the answer is %s", out)
			}
			b.inspect("api " + l.name)
			asks[bool](b, `(() => { const k = document.getElementById("key"); k.value = "wrong:key"; k.dispatchEvent(new Event("change")); return true; })()`)
			waitFor(b, `document.querySelector("main .bad")`)
			if got := asks[string](b, `fetch("https://elsewhere.example/").then(() => "sent", () => "kept")`); got != "kept" {
				t.Errorf("the page may ask other sites: %s", got)
			}
			b.expect("elsewhere.example")
		})
	}
}

// waitFor waits until a condition holds in the page.
func waitFor(b *tab, condition string) {
	b.t.Helper()
	asks[bool](b, "new Promise((done) => { const look = () => ("+condition+") ? done(true) : setTimeout(look, 20); look(); })")
}
