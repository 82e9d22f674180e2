package web_test

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

var newcomerLink = regexp.MustCompile(`https://site\.example\.org/signup/finish\?key=([0-9a-f]{64})\s`)

// said is the text of the letter that comes next, which goes to an address.
func (m *mailbox) said(t *testing.T, to string) string {
	t.Helper()
	msg := m.message(t)
	if got := msg.Header.Get("To"); !strings.Contains(got, to) {
		t.Fatalf("a letter to %s, not to %s", got, to)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(quoted(msg)); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// newcomer is the key of the letter that comes next.
func (m *mailbox) newcomer(t *testing.T, to string) string {
	t.Helper()
	text := m.said(t, to)
	found := newcomerLink.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no link in %s", text)
	}
	return found[1]
}

func signUp(t *testing.T, s *sitetest.Server, email string, headers ...string) reply {
	t.Helper()
	return send(t, s, "POST", "/signup", url.Values{"email": {email}}.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

func finish(t *testing.T, s *sitetest.Server, key, password string, pairs ...string) reply {
	t.Helper()
	form := url.Values{"key": {key}, "first": {"Ann"}, "last": {"Lee"}, "new": {password}, "again": {password}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return send(t, s, "POST", "/signup/finish", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

const ann = "ann@example.com"

// TestSignUp: it is off unless the site wants it; who can read letters to an address
// becomes its user, once, and nobody is told who is one already.
func TestSignUp(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		if r := signUp(t, s, ann); r.StatusCode != 404 {
			t.Fatalf("off: %d", r.StatusCode)
		}
		if r := send(t, s, "GET", "/login", ""); strings.Contains(r.text, "/signup") {
			t.Error("the login page leads to what is off")
		}
		configure(t, s, "sign_up", "true")
		s.Admin.Post("/api/resource/Role", map[string]any{"role_name": "Member"}).OK(t)
		configure(t, s, "sign_up_roles", `["Member", "Administrator", "Gone"]`)

		known, unknown := signUp(t, s, "Jane@example.com"), signUp(t, s, "Ann@Example.com")
		if known.StatusCode != 200 || known.text != unknown.text || !strings.Contains(known.text, "on its way") {
			t.Fatalf("known %d, unknown %d: %s", known.StatusCode, unknown.StatusCode, unknown.text)
		}
		if text := box.said(t, jane); strings.Contains(text, "key=") || !strings.Contains(text, "There is one already") {
			t.Errorf("to who is a user: %s", text)
		}
		key := box.newcomer(t, ann)
		if r := send(t, s, "GET", "/signup/finish?key="+key, ""); r.StatusCode != 200 || !strings.Contains(r.text, ann) || r.Header.Get("Referrer-Policy") != "strict-origin" {
			t.Errorf("the page: %d %s", r.StatusCode, r.text)
		}
		for _, bad := range []reply{
			finish(t, s, key, "short"), finish(t, s, key, right, "again", "x"), finish(t, s, key, right, "first", " "),
		} {
			if bad.StatusCode != 417 {
				t.Errorf("%d %s", bad.StatusCode, bad.text)
			}
		}
		if r := finish(t, s, strings.Repeat("0", 64), right); r.StatusCode != 410 {
			t.Errorf("an unknown key: %d", r.StatusCode)
		}
		// Of two at once one makes the user.
		var wait sync.WaitGroup
		got := make([]reply, 2)
		for i := range got {
			wait.Go(func() { got[i] = finish(t, s, key, right) })
		}
		wait.Wait()
		if a, b := got[0].StatusCode, got[1].StatusCode; a+b != 303+410 {
			t.Errorf("two at once: %d and %d", a, b)
		}
		if r := finish(t, s, key, right); r.StatusCode != 410 {
			t.Errorf("again: %d", r.StatusCode)
		}
		user := s.Admin.Get("/api/resource/User/" + ann).Data(t)
		roles, _ := user["roles"].([]any)
		if user["email_verified"] != 1.0 || user["first_name"] != "Ann" || user["user_type"] != "Website User" || len(roles) != 1 {
			t.Errorf("the user: %v", user)
		}
		if who(t, s, loggedIn(t, s, ann)) != ann {
			t.Error("the password does not log in")
		}
		if log := s.Admin.Get("/api/resource/Activity Log", "fields", []string{"*"}, "limit", "0").Text; !strings.Contains(log, "Sign Up: "+ann) || strings.Contains(log, key) {
			t.Errorf("the Activity Log: %s", log)
		}
		// Nobody says of themselves, or of others, that an address is verified.
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"email_verified": 1}).OK(t)
		if got := s.Admin.Get("/api/resource/User/" + jane).Data(t)["email_verified"]; got != 0.0 {
			t.Errorf("verified by saying so: %v", got)
		}
		s.Admin.Post("/api/resource/User", map[string]any{"email": "bob@example.com", "first_name": "Bob", "email_verified": 1}).OK(t)
		if got := s.Admin.Get("/api/resource/User/bob@example.com").Data(t)["email_verified"]; got != 0.0 {
			t.Errorf("made verified: %v", got)
		}
		// Whoever sets a password by a mailed link can read what is sent there.
		ask(t, s, jane)
		update(t, s, url.Values{"key": {box.next(t).key(t)}, "new_password": {other}})
		if got := s.Admin.Get("/api/resource/User/" + jane).Data(t)["email_verified"]; got != 1.0 {
			t.Errorf("after a mailed reset: %v", got)
		}

		signUp(t, s, "late@example.com")
		late := box.newcomer(t, "late@example.com")
		c.advance(25 * time.Hour)
		if r := finish(t, s, late, right); r.StatusCode != 410 {
			t.Errorf("after a day: %d", r.StatusCode)
		}
		signUp(t, s, "off@example.com")
		off := box.newcomer(t, "off@example.com")
		configure(t, s, "sign_up", "false")
		if r := finish(t, s, off, right); r.StatusCode != 410 {
			t.Errorf("switched off: %d", r.StatusCode)
		}
	})
}

// TestSignUpLimits: nobody has the site fill a mailbox.
func TestSignUpLimits(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		mailed(t, s)
		configure(t, s, "sign_up", "true")
		for i, want := range []int{200, 200, 200, 429} {
			if r := signUp(t, s, ann); r.StatusCode != want {
				t.Errorf("wish %d for an address: %d", i, r.StatusCode)
			}
		}
		configure(t, s, "sign_up_letters_per_hour", "5")
		for i, want := range []int{200, 200, 429} { // three were counted before
			if r := signUp(t, s, strings.Repeat("x", i+1)+"@example.com"); r.StatusCode != want {
				t.Errorf("wish %d of the site: %d", i, r.StatusCode)
			}
		}
		c.advance(61 * time.Minute)
		if r := signUp(t, s, ann); r.StatusCode != 200 {
			t.Errorf("an hour later: %d", r.StatusCode)
		}
		for _, bad := range []string{"", "ann", "ann@example.com\nBcc: x@example.com", "Ann <ann@example.com>", strings.Repeat("x", 300) + "@example.com"} {
			if r := signUp(t, s, bad); r.StatusCode != 417 {
				t.Errorf("%q: %d", bad, r.StatusCode)
			}
		}
		if r := signUp(t, s, ann, "Origin", "https://evil.example"); r.StatusCode != 400 {
			t.Errorf("from a page of another site: %d", r.StatusCode)
		}
	})
}

// TestInvitations: a System Manager invites, once for each letter, with the roles that
// they may give when it is accepted.
func TestInvitations(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		invite := map[string]any{"email": "Ann@example.com", "first_name": "Ann", "roles": []any{map[string]any{"role": "System Manager"}}}
		s.Admin.Post("/api/resource/User Invitation", invite).Fails(t, 417, "ValidationError") // there is no mail server
		box := mailed(t, s)
		boss := s.As(t, jane)
		s.User(t, "eve@example.com").Post("/api/resource/User Invitation", invite).Fails(t, 403, "PermissionError")
		boss.Post("/api/resource/User Invitation", map[string]any{"email": jane}).Fails(t, 417, "ValidationError")
		boss.Post("/api/resource/User Invitation", map[string]any{"email": ann, "roles": []any{map[string]any{"role": "Administrator"}}}).Fails(t, 417, "ValidationError")
		boss.Post("/api/resource/User Invitation", map[string]any{"email": "not an address"}).Fails(t, 417, "InvalidEmailAddressError")

		made := boss.Post("/api/resource/User Invitation", invite).Data(t)
		key := box.newcomer(t, ann)
		name, _ := made["name"].(string)
		if made["status"] != "Sent" || made["invited_by"] != jane || strings.Contains(boss.Get("/api/resource/User Invitation/"+name).Text, key) {
			t.Errorf("the invitation: %v", made)
		}
		if r := boss.Put("/api/resource/User Invitation/"+name, map[string]any{"status": "Accepted"}); r.Status != 403 {
			t.Errorf("changed: %d", r.Status)
		}
		boss.Delete("/api/resource/User Invitation/" + name)
		if r := finish(t, s, key, right); r.StatusCode != 410 {
			t.Errorf("withdrawn: %d", r.StatusCode)
		}

		name, _ = boss.Post("/api/resource/User Invitation", invite).Data(t)["name"].(string)
		key = box.newcomer(t, ann)
		if r := send(t, s, "GET", "/signup/finish?key="+key, ""); !strings.Contains(r.text, "has invited you") || !strings.Contains(r.text, `value="Ann"`) {
			t.Errorf("the page: %d %s", r.StatusCode, r.text)
		}
		if r := finish(t, s, key, right); r.StatusCode != 303 || r.Header.Get("Location") != "/login?signed-up=1" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		if got := boss.Get("/api/resource/User Invitation/" + name).Data(t)["status"]; got != "Accepted" {
			t.Errorf("the invitation is %v", got)
		}
		if r := finish(t, s, key, right); r.StatusCode != 410 {
			t.Errorf("twice: %d", r.StatusCode)
		}
		if got := s.As(t, ann).Get("/api/resource/User/" + ann).Data(t); got["user_type"] != "System User" || got["email_verified"] != 1.0 {
			t.Errorf("the user: %v", got)
		}

		// Who may not give roles any more has not, either.
		boss.Post("/api/resource/User Invitation", map[string]any{"email": "bob@example.com"}).OK(t)
		key = box.newcomer(t, "bob@example.com")
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"roles": []any{}}).OK(t)
		if r := finish(t, s, key, right); r.StatusCode != 410 {
			t.Errorf("of nobody: %d", r.StatusCode)
		}
		s.Admin.Post("/api/resource/User Invitation", map[string]any{"email": "bob@example.com"}).OK(t)
		key = box.newcomer(t, "bob@example.com")
		c.advance(8 * 24 * time.Hour)
		if r := finish(t, s, key, right); r.StatusCode != 410 {
			t.Errorf("after a week: %d", r.StatusCode)
		}
	})
}
