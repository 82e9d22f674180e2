package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

const janeNew = "jane@new.example"

var addressLink = regexp.MustCompile(`https://site\.example\.org/update-address\?key=([0-9a-f]{64})\s`)

// agreeing is the key of the letter that comes next.
func (m *mailbox) agreeing(t *testing.T, to string) string {
	t.Helper()
	text := m.said(t, to)
	found := addressLink.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no link in %s", text)
	}
	return found[1]
}

// askAddress has the user of a session ask for another address.
func askAddress(t *testing.T, s *sitetest.Server, sid, email string, pairs ...string) reply {
	t.Helper()
	token, err := s.Tenant.Auth.CSRFToken(t.Context(), send(t, s, "GET", "/login", "", "Cookie", sid).Request)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"do": {"ask"}, "email": {email}, "csrf_token": {token}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return sendForm(t, s, "/app/address", form, "Cookie", sid)
}

func answerAddress(t *testing.T, s *sitetest.Server, key, do string, headers ...string) reply {
	t.Helper()
	return sendForm(t, s, "/update-address", url.Values{"key": {key}, "do": {do}}, headers...)
}

func emailOf(t *testing.T, s *sitetest.Server, user string) (email string, verified bool) {
	t.Helper()
	doc := s.Admin.Get("/api/resource/User/" + user).Data(t)
	email, _ = doc["email"].(string)
	return email, doc["email_verified"] == 1.0
}

// TestChangeOfAddress: it is changed when the old and the new one have agreed, in whichever
// order, and everything that is the user's stays so.
func TestChangeOfAddress(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		key := s.As(t, jane)
		sid := loggedIn(t, s, jane)
		made := key.Post("/api/resource/ToDo", map[string]any{"description": "hers"}).Data(t)["name"].(string)
		for _, bad := range []string{"", "jane", jane, "Jane <jane@new.example>", "x@new.example\nBcc: y@z.example", strings.Repeat("x", 140) + "@new.example"} {
			if r := askAddress(t, s, sid, bad); r.StatusCode != 417 {
				t.Errorf("%q: %d %s", bad, r.StatusCode, r.text)
			}
		}
		if r := sendForm(t, s, "/app/address", url.Values{"do": {"ask"}, "email": {janeNew}}, "Cookie", sid); r.StatusCode != 400 {
			t.Errorf("without the session's token: %d", r.StatusCode)
		}
		if r := askAddress(t, s, sid, "Jane@New.example"); r.StatusCode != 303 || r.Header.Get("Location") != "/app/address?done=asked" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		old, now := box.agreeing(t, jane), box.agreeing(t, janeNew)
		if r := send(t, s, "GET", "/app/address", "", "Cookie", sid); !strings.Contains(r.text, janeNew) || strings.Contains(r.text, old) || strings.Contains(r.text, now) {
			t.Errorf("the page: %s", r.text)
		}
		// Looking at the links agrees to nothing; the new address is not told whose it would be.
		for _, k := range []string{old, now} {
			r := send(t, s, "GET", "/update-address?key="+k, "")
			if r.StatusCode != 200 || r.Header.Get("Referrer-Policy") != "strict-origin" || strings.Contains(r.text, jane) != (k == old) {
				t.Errorf("a link: %d %s", r.StatusCode, r.text)
			}
		}
		for _, r := range []reply{answerAddress(t, s, strings.Repeat("0", 64), "agree"), answerAddress(t, s, "x", "agree")} {
			if r.StatusCode != 410 {
				t.Errorf("an unknown key: %d", r.StatusCode)
			}
		}
		if r := answerAddress(t, s, now, "agree", "Origin", "https://evil.example"); r.StatusCode != 400 {
			t.Errorf("from a page of another site: %d", r.StatusCode)
		}
		for range 2 { // one of them twice is one
			if r := answerAddress(t, s, now, "agree"); r.StatusCode != 200 || !strings.Contains(r.text, "the other one") {
				t.Errorf("the new one agrees: %d %s", r.StatusCode, r.text)
			}
		}
		if email, _ := emailOf(t, s, jane); email != jane {
			t.Fatalf("changed by one: %s", email)
		}
		ask(t, s, jane)
		reset := box.next(t).key(t)
		var wait sync.WaitGroup
		got := make([]reply, 2)
		for i := range got {
			wait.Go(func() { got[i] = answerAddress(t, s, old, "agree") })
		}
		wait.Wait()
		if a, b := got[0].StatusCode, got[1].StatusCode; a+b != 200+410 {
			t.Errorf("two at once: %d and %d", a, b)
		}
		if email, checked := emailOf(t, s, jane); email != janeNew || !checked {
			t.Fatalf("the address is %s, verified %v", email, checked)
		}
		for _, k := range []string{old, now} {
			if r := answerAddress(t, s, k, "refuse"); r.StatusCode != 410 {
				t.Errorf("afterwards: %d", r.StatusCode)
			}
		}
		if r := send(t, s, "GET", "/update-password?key="+reset, ""); r.StatusCode != 410 {
			t.Errorf("a reset that was mailed to the old address: %d", r.StatusCode)
		}
		// What was hers is hers.
		if who(t, s, sid) != jane || key.Get("/api/resource/ToDo/" + made).Data(t)["owner"] != jane {
			t.Error("the session or the key have ended")
		}
		// Both names log in, and letters go to the new address.
		if loggedIn(t, s, "Jane@New.example") == "" || loggedIn(t, s, jane) == "" {
			t.Error("no login")
		}
		ask(t, s, jane)
		if l := box.next(t); len(l.to) != 1 || l.to[0] != janeNew {
			t.Errorf("a reset goes to %v", l.to)
		}
		// Nobody else comes by either, nor is named so.
		configure(t, s, "sign_up", "true")
		for _, email := range []string{jane, janeNew} {
			signUp(t, s, email)
			if text := box.said(t, email); !strings.Contains(text, "There is one already") {
				t.Errorf("signing up as %s: %s", email, text)
			}
			s.Admin.Post("/api/resource/User", map[string]any{"email": email, "first_name": "Eve"}).Fails(t, 409, "DuplicateEntryError")
		}
		s.User(t, "eve@example.com")
		s.Admin.Put("/api/resource/User/eve@example.com", map[string]any{"username": janeNew}).OK(t)
		setPassword(t, s, "eve@example.com", other)
		login(t, s, janeNew, other).fails(t, 401, "AuthenticationError")
		if log := s.Admin.Get("/api/resource/Activity Log", "fields", []string{"*"}, "limit", "0").Text; !strings.Contains(log, jane+" has "+janeNew+" in place of "+jane) || strings.Contains(log, old) {
			t.Errorf("the Activity Log: %s", log)
		}
		// And back again.
		c.advance(2 * time.Hour)
		sid = loggedIn(t, s, janeNew)
		askAddress(t, s, sid, jane)
		answerAddress(t, s, box.agreeing(t, janeNew), "agree")
		answerAddress(t, s, box.agreeing(t, jane), "agree")
		if email, checked := emailOf(t, s, jane); email != jane || !checked {
			t.Errorf("back: %s %v", email, checked)
		}
	})
}

// TestChangeOfAddressRefused: the old address refuses, a fresh login is needed, one waits at a
// time and for a day, another password ends it, and nobody learns who is a user.
func TestChangeOfAddressRefused(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		configure(t, s, "password_reset_limit", "50")
		s.User(t, "bob@example.com")
		stale := loggedIn(t, s, jane)
		c.advance(time.Hour)
		if r := askAddress(t, s, stale, janeNew); r.StatusCode != 303 || !strings.HasPrefix(r.Header.Get("Location"), "/login?") {
			t.Errorf("after an old login: %d %s", r.StatusCode, r.Header.Get("Location"))
		}
		sid := loggedIn(t, s, jane)
		begin := func(email string) (old, now string) {
			t.Helper()
			if r := askAddress(t, s, sid, email); r.StatusCode != 303 {
				t.Fatalf("%d %s", r.StatusCode, r.text)
			}
			return box.agreeing(t, jane), box.agreeing(t, email)
		}
		ended := func(why string, keys ...string) {
			t.Helper()
			for _, k := range keys {
				if r := answerAddress(t, s, k, "agree"); r.StatusCode != 410 {
					t.Errorf("%s: %d", why, r.StatusCode)
				}
			}
		}
		old, now := begin(janeNew)
		answerAddress(t, s, now, "agree")
		if r := answerAddress(t, s, old, "refuse"); r.StatusCode != 200 || !strings.Contains(r.text, "refused") {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		ended("refused", old, now)
		old, now = begin(janeNew)
		old2, now2 := begin("jane@third.example")
		ended("another one was asked for", old, now)
		askAddress(t, s, sid, "", "do", "keep")
		ended("kept", old2, now2)
		old, now = begin(janeNew)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"new_password": right, "logout_all_sessions": 0}).OK(t)
		ended("another password", old, now)
		old, now = begin(janeNew)
		answerAddress(t, s, old, "agree")
		s.User(t, janeNew) // somebody else comes by meanwhile
		ended("taken meanwhile", now)
		old, now = begin("jane@third.example")
		c.advance(25 * time.Hour)
		ended("after a day", old, now)

		// Who asks sees the same for an address that somebody has, by either name of theirs.
		sid = loggedIn(t, s, jane)
		s.Admin.Post("/api/method/framework.user.set_address", map[string]any{"user": "bob@example.com", "email": "bob@new.example"}).OK(t)
		free := askAddress(t, s, sid, "free@example.com")
		letter := box.said(t, jane)
		box.agreeing(t, "free@example.com")
		page := send(t, s, "GET", "/app/address", "", "Cookie", sid).text
		for _, taken := range []string{"bob@example.com", "bob@new.example"} {
			r := askAddress(t, s, sid, taken)
			if r.StatusCode != free.StatusCode || r.text != free.text || r.Header.Get("Location") != free.Header.Get("Location") {
				t.Errorf("%s: %d %s", taken, r.StatusCode, r.text)
			}
			said := box.said(t, jane)
			if a, b := addressLink.ReplaceAllString(said, ""), addressLink.ReplaceAllString(letter, ""); strings.ReplaceAll(a, taken, "free@example.com") != b {
				t.Errorf("the letter to the old one: %s", said)
			}
			if text := box.said(t, taken); strings.Contains(text, "key=") || strings.Contains(text, jane) {
				t.Errorf("to who has it: %s", text)
			}
			if got := strings.ReplaceAll(send(t, s, "GET", "/app/address", "", "Cookie", sid).text, taken, "free@example.com"); got != page {
				t.Errorf("the page: %s", got)
			}
			answerAddress(t, s, addressLink.FindStringSubmatch(said)[1], "agree")
			if email, _ := emailOf(t, s, jane); email != jane {
				t.Errorf("took %s", email)
			}
		}
		configure(t, s, "password_reset_limit", "1")
		if r := askAddress(t, s, sid, "more@example.com"); r.StatusCode != 429 {
			t.Errorf("too many: %d", r.StatusCode)
		}
	})
}

// TestSetAddress: an administrator gives another address where the old one cannot be reached.
func TestSetAddress(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		const set = "/api/method/framework.user.set_address"
		box := mailed(t, s)
		eve := s.User(t, "eve@example.com")
		boss := s.As(t, jane)
		proven(t, s, "eve@example.com")
		args := func(user, email string) map[string]any { return map[string]any{"user": user, "email": email} }
		eve.Post(set, args("eve@example.com", "eve@new.example")).Fails(t, 403, "PermissionError")
		boss.Post(set, args("Administrator", "me@new.example")).Fails(t, 403, "PermissionError")
		boss.Post(set, args("eve@example.com", jane)).Fails(t, 409, "DuplicateEntryError")
		boss.Post(set, args("eve@example.com", "eve")).Fails(t, 417, "InvalidEmailAddressError")
		boss.Post(set, args("nobody@example.com", "x@new.example")).Fails(t, 404, "DoesNotExistError")
		boss.Post(set, args("Guest", "x@new.example")).Fails(t, 417, "ValidationError")
		boss.Post(set, args("eve@example.com", "Eve@New.example")).OK(t)
		if email, checked := emailOf(t, s, "eve@example.com"); email != "eve@new.example" || checked {
			t.Errorf("%s, verified %v", email, checked)
		}
		// A letter to it verifies it.
		ask(t, s, "eve@new.example")
		update(t, s, url.Values{"key": {box.next(t).key(t)}, "new_password": {right}})
		if _, checked := emailOf(t, s, "eve@example.com"); !checked || who(t, s, loggedIn(t, s, "eve@new.example")) != "eve@example.com" {
			t.Error("not hers")
		}
		boss.Put("/api/resource/User/eve@example.com", map[string]any{"email": "third@example.com"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Post(set, args("Administrator", "me@new.example")).OK(t)
	})
}
