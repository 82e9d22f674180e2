package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// journey counts what a person does with the mouse.
type journey struct {
	*tab
	clicks int
}

// becomesTrue waits until an expression holds in the page.
func (b *tab) becomesTrue(what, expression string) {
	b.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for range time.Tick(50 * time.Millisecond) {
		if there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)); err == nil && there {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("at %s it never comes to be that %s:\n%s", b.at(), what, b.text())
		}
	}
}

// there waits for an element.
func (b *tab) there(selector string) string {
	b.t.Helper()
	b.becomesTrue("there is "+selector, fmt.Sprintf("document.querySelector(%q) !== null", selector))
	return selector
}

// press clicks a button or link by what it says, in the topmost dialog if there is one.
func (j *journey) press(text string) {
	j.t.Helper()
	j.clicks++
	j.becomesTrue("one can press "+text, fmt.Sprintf(`(text => {
		const all = [...(document.querySelector("[role=dialog]") || document).querySelectorAll("button:not(:disabled), a, summary, [role=option]")];
		const found = all.find(e => (e.getAttribute("aria-label") || e.textContent).trim() === text && e.getClientRects().length > 0);
		document.querySelectorAll("[data-pressed]").forEach(e => e.removeAttribute("data-pressed"));
		found?.setAttribute("data-pressed", "");
		return found !== undefined;
	})(%q)`, text))
	j.do(j.mouse("[data-pressed]"))
}

// types fills a field that is there by then; it takes a click.
func (j *journey) types(selector, text string) {
	j.t.Helper()
	j.clicks++
	j.fill(j.there(selector+":not([readonly])"), text)
}

func (j *journey) within(budget int, what string) {
	j.t.Helper()
	if j.clicks > budget {
		j.t.Errorf("%s takes %d clicks, and may take %d", what, j.clicks, budget)
	}
	j.clicks = 0
}

func (s *server) bookType() {
	s.t.Helper()
	s.api("POST", "/api/resource/DocType", map[string]any{"name": "Chapter", "module": "Library", "custom": 1, "istable": 1,
		"fields": []map[string]any{{"fieldname": "heading", "fieldtype": "Data", "reqd": 1}, {"fieldname": "pages", "fieldtype": "Int"}}})
	s.api("POST", "/api/resource/DocType", map[string]any{"name": "Writer", "module": "Library", "custom": 1, "autoname": "field:full_name", "title_field": "full_name",
		"fields":      []map[string]any{{"fieldname": "full_name", "fieldtype": "Data", "reqd": 1}},
		"permissions": []map[string]any{{"role": "All", "read": 1, "write": 1, "create": 1, "delete": 1}}})
	s.api("POST", "/api/resource/DocType", map[string]any{"name": "Book", "module": "Library", "custom": 1, "title_field": "title", "track_changes": 1,
		"fields": []map[string]any{
			{"fieldname": "title", "fieldtype": "Data", "reqd": 1, "in_list_view": 1, "description": "As on the cover"},
			{"fieldname": "state", "fieldtype": "Select", "options": "In\nOut", "in_list_view": 1},
			{"fieldname": "price", "fieldtype": "Currency", "in_list_view": 1},
			{"fieldname": "writer", "fieldtype": "Link", "options": "Writer"},
			{"fieldname": "bought", "fieldtype": "Date"},
			{"fieldname": "chapters", "fieldtype": "Table", "options": "Chapter"},
		},
		"permissions": []map[string]any{{"role": "All", "read": 1, "write": 1, "create": 1, "delete": 1}}})
}

func (s *server) book(values map[string]any) string {
	s.t.Helper()
	return s.api("POST", "/api/resource/Book", values).(map[string]any)["name"].(string)
}

// TestConsoleNewSite: a DocType, a document and a key, each within a few clicks.
func TestConsoleNewSite(t *testing.T) { eachDatabase(t, consoleNewSite) }

func consoleNewSite(t *testing.T, s *server) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	j := &journey{tab: newTab(t, s, looks[0])}
	j.login("jane@example.com")
	j.open("/app/d")
	j.comesToSay("Welcome")
	j.inspect("console home")

	j.press("Make a DocType")
	j.types("#type-name", "Bike")
	j.types("#label-0", "Model")
	j.press("Add a field")
	j.types("#label-1", "Wheels")
	j.press("Save")
	j.comesToSay("It counts from now on.")
	j.within(6, "making a DocType")
	j.inspect("console DocType")

	j.press("Open the list")
	j.press("New Bike")
	j.types("#field-model", "Tandem <img src=x onerror=alert(1)>")
	j.press("Save")
	j.comesToSay("Comments")
	j.within(4, "making a document")
	j.becomesTrue("the form has it", `document.querySelector("#field-model")?.value.startsWith("Tandem <img")`)

	j.open("/app/keys")
	j.types("#title", "My first program")
	j.press("Make a key")
	j.there("#header")
	j.within(2, "making a key")
	header := run(j.tab, chromedp.Evaluate[string](`document.getElementById("header").textContent`))
	s.authorization = strings.TrimPrefix(header, "Authorization: ")
	if who := s.api("GET", "/api/method/framework.auth.get_logged_user", map[string]any{}); who != "jane@example.com" {
		t.Errorf("the key is that of %v", who)
	}
}

// TestConsoleDocuments: found, filtered, edited with its rows and a link that is made on the
// way; what is in the address is what is shown.
func TestConsoleDocuments(t *testing.T) { eachDatabase(t, consoleDocuments) }

func consoleDocuments(t *testing.T, s *server) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.bookType()
	name := s.book(map[string]any{"title": "Dune", "price": 9.5, "state": "In", "chapters": []map[string]any{{"heading": "One", "pages": 3}}})
	s.book(map[string]any{"title": "Emma", "state": "Out"})
	j := &journey{tab: newTab(t, s, looks[0])}
	j.login("jane@example.com")
	j.open("/app/d/Book")
	j.comesToSay("2 documents")
	j.comesToSay("Emma")
	j.inspect("console list")

	j.press("Add a filter")
	run(j.tab, chromedp.Evaluate[chromedp.Void](`(e => { e.value = "like"; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#filter-operator"))`))
	j.types("#filter-value", "un")
	j.inspect("console filter")
	j.press("OK")
	j.comesToSay("1 document")
	j.within(3, "a filter")
	u, err := url.Parse(j.at())
	if err != nil || u.Query().Get("filters") != `[["title","like","%un%"]]` {
		t.Errorf("at %s", j.at())
	}
	j.open(j.at()) // the address alone shows the same
	j.comesToSay("1 document")

	j.press("Dune")
	j.there("#field-title")
	j.inspect("console form")
	j.types("#field-price", "12.25")
	j.press("Add a row")
	j.types("#field-chapters-1-heading", "Two")
	j.press("Make a new Writer")
	j.types("#quick-full_name", "Frank")
	j.do(chromedp.KeyEvent(kb.Enter))
	j.becomesTrue("the writer is chosen", `document.querySelector("#field-writer")?.value === "Frank"`)
	j.press("Save")
	j.comesToSay("Saved")
	j.within(8, "editing a document")
	stored := s.api("GET", "/api/resource/Book/"+name, map[string]any{}).(map[string]any)
	if text, _ := json.Marshal(stored); stored["price"] != 12.25 || stored["writer"] != "Frank" || len(stored["chapters"].([]any)) != 2 || !strings.Contains(string(text), `"heading":"Two"`) {
		t.Errorf("stored %s", text)
	}

	j.types("#comment", "Read <script>it</script>")
	j.press("Send")
	j.becomesTrue("the comment is there", `[...document.querySelectorAll("aside .said")].some(e => e.textContent.includes("it"))`)

	j.press("Delete")
	j.press("Delete")
	j.comesToSay("Emma")
}

// TestConsoleConflict: two people save, and the second chooses field by field.
func TestConsoleConflict(t *testing.T) { eachDatabase(t, consoleConflict) }

func consoleConflict(t *testing.T, s *server) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.bookType()
	name := s.book(map[string]any{"title": "Dune", "state": "In", "price": 1})
	j := &journey{tab: newTab(t, s, looks[0])}
	j.login("jane@example.com")
	j.open("/app/d/Book/" + name)
	j.types("#field-title", "Mine")
	s.api("PUT", "/api/resource/Book/"+name, map[string]any{"title": "Theirs", "price": 7})
	j.press("Save")
	j.comesToSay("Somebody else has saved this meanwhile")
	j.comesToSay("Also changed, and taken over")
	j.inspect("console conflict")
	j.do(j.mouse("input[value=mine]"))
	j.press("Save with these choices")
	j.comesToSay("Saved")
	if got := s.api("GET", "/api/resource/Book/"+name, map[string]any{}).(map[string]any); got["title"] != "Mine" || got["price"] != 7.0 {
		t.Errorf("stored %v", got)
	}
}

// TestConsoleSessionEnds: what was typed is saved after logging in in a dialog.
func TestConsoleSessionEnds(t *testing.T) { eachDatabase(t, consoleSessionEnds) }

func consoleSessionEnds(t *testing.T, s *server) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.bookType()
	name := s.book(map[string]any{"title": "Dune"})
	j := &journey{tab: newTab(t, s, looks[1])}
	j.login("jane@example.com")
	j.open("/app/d/Book/" + name)
	j.types("#field-title", "Typed before")
	asks[chromedp.Void](j.tab, `fetch("/app/session.json").then(r => r.json()).then(v => fetch("/api/method/logout", {method: "POST", headers: {"X-Framework-CSRF-Token": v.csrf_token}})).then(() => undefined)`)
	j.press("Save")
	j.comesToSay("Your session has ended")
	j.inspect("console session ended")
	j.types("#again-password", password)
	j.press("Log in")
	j.comesToSay("Saved")
	if got := s.api("GET", "/api/resource/Book/"+name, map[string]any{}).(map[string]any); got["title"] != "Typed before" {
		t.Errorf("stored %v", got)
	}
}

// TestConsoleByKeyboard: the palette leads to a form, which is saved without the mouse.
func TestConsoleByKeyboard(t *testing.T) { eachDatabase(t, consoleByKeyboard) }

func consoleByKeyboard(t *testing.T, s *server) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.bookType()
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.open("/app/d")
	b.comesToSay("Book")
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.there("[role=dialog] input")
	b.press("New Book")
	b.becomesTrue("the command is found", `document.querySelector("[data-command-item][data-selected]")?.textContent.trim() === "New Book"`)
	b.press(kb.Enter)
	b.there("#field-title")
	for range 30 {
		if b.focused() == "field-title" {
			break
		}
		b.press(kb.Tab)
	}
	b.press("Typed")
	b.do(chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.comesToSay("Comments")
	if books := s.api("GET", "/api/resource/Book", map[string]any{"fields": []string{"title"}}).([]any); len(books) != 1 || books[0].(map[string]any)["title"] != "Typed" {
		t.Errorf("stored %v", books)
	}
}

// TestConsoleRunsNoScript: hostile values in names, labels and fields are text.
func TestConsoleRunsNoScript(t *testing.T) { eachDatabase(t, consoleRunsNoScript) }

func consoleRunsNoScript(t *testing.T, s *server) {
	s.user("jane@example.com", "<img src=x onerror=alert(1)>", `"><script>alert(2)</script>`, "System Manager")
	const evil = `"><img src=x onerror=alert(3)><svg onload=alert(4)>{{7*7}}`
	s.api("POST", "/api/resource/DocType", map[string]any{"name": "Evil", "module": evil, "custom": 1, "autoname": "Prompt", "title_field": "text", "description": evil,
		"fields": []map[string]any{
			{"fieldname": "text", "label": evil, "fieldtype": "Data", "description": evil, "placeholder": evil, "in_list_view": 1},
			{"fieldname": "code", "label": "Code", "fieldtype": "Code", "in_list_view": 1},
			{"fieldname": "file", "label": "File", "fieldtype": "Attach"},
			{"fieldname": "sign", "label": "Sign", "fieldtype": "Signature"},
			{"fieldname": "pick", "label": "Pick", "fieldtype": "Select", "options": "a\n" + evil},
			{"fieldname": "note", "label": "Note", "fieldtype": "HTML", "options": "<script>alert(5)</script>"},
		},
		"permissions": []map[string]any{{"role": "All", "read": 1, "write": 1, "create": 1}}})
	name := s.api("POST", "/api/resource/Evil", map[string]any{"name": `x'"%2F/..#?`, "text": "plain", "code": evil, "sign": "javascript:alert(6)"}).(map[string]any)["name"].(string)
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.do(call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.ran = []; window.alert = n => window.ran.push(n)`}))
	for _, path := range []string{"/app/d", "/app/d/Evil", "/app/d/Evil/" + url.PathEscape(name), "/app/new/Evil", "/app/types/Evil", "/app/d/" + url.PathEscape(evil)} {
		b.open(path)
		b.becomesTrue("something is shown", `document.querySelector("main")?.innerText.trim().length > 10`)
		if bad := run(b, chromedp.Evaluate[int](`document.querySelectorAll("#console img[src='x'], #console script, #console svg, #console [onerror], #console a[href^='javascript:']").length`)); bad != 0 {
			t.Errorf("%s: %d elements are made of values", path, bad)
		}
		if ran := run(b, chromedp.Evaluate[[]int](`window.ran`)); len(ran) > 0 {
			t.Errorf("%s: scripts ran: %v", path, ran)
		}
	}
	b.open("/app/d/Evil/" + url.PathEscape(name))
	if got := b.there("#field-code"); b.value(got) != evil {
		t.Errorf("the code is shown as %q", b.value(got))
	}
}
