package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHelpdesk: the page of examples/helpdesk, published by its command: a customer
// logs in on it, opens a ticket, and sees it answered; the ticket of another stays out
// of sight.
func TestHelpdesk(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe")
	example := filepath.Join("..", "..", "..", "examples", "helpdesk")
	script, err := os.ReadFile(filepath.Join(example, "acme.helpdesk.ts"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "acme.helpdesk.ts")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		t.Fatal(err)
	}
	s.command("", "plugin", "install", file)
	s.command("", "site", "publish", filepath.Join(example, "public"))
	s.api("POST", "/api/resource/Ticket", map[string]any{"subject": "Nobody's business"})

	b := newTab(t, s, looks[0])
	b.open(s.origin + "/")
	b.comesToSay("Password")
	b.fill("#login input[name=usr]", "jane@example.com")
	b.fill("#login input[name=pwd]", password)
	b.do(b.mouse("#login button"))
	b.comesToSay("What happened?")
	b.fill("#open input[name=subject]", "?")
	b.do(b.mouse("#open button"))
	b.comesToSay("Say in a few words what it is about")
	b.fill("#open input[name=subject]", "No <b>tea</b>")
	b.do(b.mouse("#open button"))
	b.comesToSay("No <b>tea</b> (Open)")
	tickets := s.api("GET", "/api/resource/Ticket", map[string]any{"filters": [][]any{{"owner", "=", "jane@example.com"}}}).([]any)
	if len(tickets) != 1 {
		t.Fatal(tickets)
	}
	s.api("PUT", "/api/resource/Ticket/"+tickets[0].(map[string]any)["name"].(string), map[string]any{"answer": "Here it is"})
	b.open(s.origin + "/")
	b.comesToSay("No <b>tea</b> (Answered)")
	b.shows("Here it is")
	if text := b.text(); strings.Contains(text, "Nobody's") {
		t.Errorf("the page shows what others have: %s", text)
	}
	b.forget() // the refusal
}
