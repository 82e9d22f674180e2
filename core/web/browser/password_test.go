package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// resetLink is a link to reset a user's password, as the command line makes it.
func (s *server) resetLink(user string) string {
	s.t.Helper()
	var made struct{ Link string }
	if err := json.Unmarshal(s.command("", "user", "reset", user, "--url", s.origin), &made); err != nil || made.Link == "" {
		s.t.Fatalf("%v: no link", err)
	}
	return strings.TrimPrefix(made.Link, s.origin)
}

func TestResetPassword(t *testing.T) {
	s := serve(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := strings.ReplaceAll(l.name, " ", "") + "@example.com"
			s.user(user, "Jane", "Doe")
			b := newTab(t, s, l)
			b.open("/login")
			b.click("a[href='/forgot-password']")
			b.inspect("forgot " + l.name)
			b.press(user)
			if r := b.loads(chromedp.KeyEvent(kb.Enter)); r.Status != 200 {
				t.Errorf("status %d", r.Status)
			}
			b.shows("If there is such an account")
			b.inspect("forgot sent " + l.name)

			link := s.resetLink(user)
			b.open(link)
			b.shows(user)
			b.inspect("reset " + l.name)
			if f := b.focused(); f != "new" {
				t.Errorf("the focus is on %q", f)
			}
			b.fill("#new", "password1")
			b.fill("#again", "password1")
			if r := b.click("button"); r.Status != 417 {
				t.Errorf("status %d", r.Status)
			}
			b.shows("one of the most common ones")
			b.inspect("reset refused " + l.name)
			b.fill("#new", "three red bicycles")
			b.fill("#again", "three red bicycles")
			b.click("button")
			if at := b.at(); at != "/login?password=changed" {
				t.Fatalf("at %s", at)
			}
			b.inspect("reset done " + l.name)
			b.fill("#usr", user)
			b.fill("#pwd", "three red bicycles")
			b.click("button")
			if at := b.at(); at != "/app" {
				t.Errorf("at %s", at)
			}
			if r := b.open(link); r.Status != 410 {
				t.Errorf("the link works twice: %d", r.Status)
			}
			b.inspect("reset spent " + l.name)
		})
	}
}

func TestChangePassword(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe")
	b := newTab(t, s, looks[1])
	b.login("jane@example.com")
	b.click("a[href='/app/password']")
	b.inspect("change password")
	// By keyboard: old, new, again, and Enter sends it.
	b.press(password + kb.Tab + "three red bicycles" + kb.Tab + "three red bicycles")
	b.loads(chromedp.KeyEvent(kb.Enter))
	b.shows("Your password is changed.")
	b.inspect("password changed")
	if who := b.who(); who != "jane@example.com" {
		t.Errorf("logged in as %q", who)
	}
}
