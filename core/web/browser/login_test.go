package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestLogin(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "<i>Doe", "System Manager")
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			if r := b.open("/login?redirect-to=%2Fapp%3Fx%3D1%26y%3D2"); r.Status != 200 {
				t.Fatalf("status %d", r.Status)
			}
			b.inspect("login " + l.name)
			b.fill("#usr", "jane@example.com")
			b.fill("#pwd", "not it")
			if r := b.click("button"); r.Status != 401 {
				t.Errorf("status %d", r.Status)
			}
			b.shows("Invalid login credentials")
			b.inspect("login wrong " + l.name)
			if f := b.focused(); f != "pwd" {
				t.Errorf("after a wrong password the focus is on %q", f)
			}
			if user := b.value("#usr"); user != "jane@example.com" {
				t.Errorf("the user has to be typed again: %q", user)
			}
			if title := run(b, chromedp.Title()); title != "Error: Log in · Armature" {
				t.Errorf("title %q", title)
			}
			b.fill("#pwd", password)
			b.click("button")
			if at := b.at(); at != "/app?x=1&y=2" {
				t.Errorf("logged in, at %s", at)
			}
			b.open("/login")
			if at := b.at(); at != "/app" {
				t.Errorf("the login page for who is logged in leads to %s", at)
			}
		})
	}
}

// TestLoginByKeyboard: the field to begin with has the focus, and Tab and Enter
// do the rest.
func TestLoginByKeyboard(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	b := newTab(t, s, looks[0])
	b.open("/login")
	if f := b.focused(); f != "usr" {
		t.Fatalf("the focus is on %q", f)
	}
	b.press("jane@example.com" + kb.Tab)
	if f := b.focused(); f != "pwd" {
		t.Fatalf("the focus is on %q", f)
	}
	b.press("wrong" + kb.Tab)
	if f := b.focused(); f != "Log in" {
		t.Fatalf("the focus is on %q", f)
	}
	ring := run(b, chromedp.Evaluate[string](`getComputedStyle(document.activeElement).outlineStyle`))
	if ring != "solid" {
		t.Errorf("the focus is not seen: outline %s", ring)
	}
	b.loads(chromedp.KeyEvent(kb.Enter))
	b.press(password)
	b.loads(chromedp.KeyEvent(kb.Enter))
	if at := b.at(); at != "/app" {
		t.Errorf("at %s", at)
	}
}

func TestLoginRefused(t *testing.T) {
	s := serve(t)
	s.configure("allow_consecutive_login_attempts", "3")
	s.user("jane@example.com", "Jane", "Doe")
	s.user("gone@example.com", "Gone", "Doe")
	s.api("PUT", "/api/resource/User/gone@example.com", map[string]any{"enabled": 0})
	b := newTab(t, s, looks[1])
	login := func(user, pwd string) int64 {
		t.Helper()
		b.open("/login")
		b.fill("#usr", user)
		b.fill("#pwd", pwd)
		return b.click("button").Status
	}
	if status := login("gone@example.com", password); status != 401 {
		t.Errorf("disabled: %d", status)
	}
	b.shows("User disabled or missing")
	b.inspect("login disabled")
	for range 4 {
		login("jane@example.com", "wrong")
	}
	if status := login("jane@example.com", password); status != 429 {
		t.Errorf("locked out: %d", status)
	}
	b.shows("locked")
	b.inspect("login locked")
}

// TestSwitchUser: who is logged in can become somebody else and comes back.
func TestSwitchUser(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.user("rob@example.com", "Rob", "Roe", "System Manager")
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.open("/login?switch=1&redirect-to=%2Fapp%3Fback%3D1")
	b.shows("You are logged in as Jane Doe")
	b.inspect("login switch")
	b.fill("#usr", "rob@example.com")
	b.fill("#pwd", password)
	b.click("button")
	if at, who := b.at(), b.who(); at != "/app?back=1" || who != "rob@example.com" {
		t.Errorf("at %s as %s", at, who)
	}
}

// TestFraming: no page of another site shows the login page inside its own.
func TestFraming(t *testing.T) {
	s := serve(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><iframe src="%s/login"></iframe>`, s.origin)
	}))
	defer other.Close()
	b := newTab(t, s, looks[0])
	b.open(other.URL)
	b.expect("frame-ancestors 'none'")
}

// login logs in and ends where a login leads.
func (b *tab) login(user string) {
	b.t.Helper()
	b.open("/login")
	b.fill("#usr", user)
	b.fill("#pwd", password)
	b.click("button")
}
