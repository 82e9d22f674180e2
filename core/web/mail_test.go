package web_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/sites/sitetest"
)

var (
	sixDigits  = regexp.MustCompile(`\n    ([0-9]{6})\r?\n`)
	mailedLink = regexp.MustCompile(`https://site\.example\.org/login/mail/code\?key=([0-9a-f]{64})\s`)
)

// code is the code of the letter that comes next, and the key of its link.
func (m *mailbox) code(t *testing.T, to string) (code, key string) {
	t.Helper()
	text := m.said(t, to)
	c, k := sixDigits.FindStringSubmatch(text), mailedLink.FindStringSubmatch(text)
	if c == nil || k == nil {
		t.Fatalf("no code in %s", text)
	}
	return c[1], k[1]
}

// askCode asks for a code and returns the cookie by which the browser is known.
func askCode(t *testing.T, s *sitetest.Server, user string, pairs ...string) (reply, string) {
	t.Helper()
	form := url.Values{"usr": {user}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r := sendForm(t, s, "/login/mail", form)
	return r, r.cookies()
}

func withMailed(t *testing.T, s *sitetest.Server, cookie, field, code string, headers ...string) reply {
	t.Helper()
	return sendForm(t, s, "/login/mail/code", url.Values{field: {code}}, append(headers, "Cookie", cookie)...)
}

// proven makes the user's address a verified one, as a mailed link does.
func proven(t *testing.T, s *sitetest.Server, user string) {
	t.Helper()
	err := s.Tenant.Store.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
		_, err := tx.UpdateIf(t.Context(), s.Tenant.Documents.Schema().DocType("User"), user, map[string]any{}, map[string]any{"email_verified": int64(1)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// shownBy is by which methods (RFC 8176) the user of a session has shown who they are.
func shownBy(t *testing.T, s *sitetest.Server, sid string) []string {
	t.Helper()
	b, err := s.Tenant.Auth.Browser(t.Context(), send(t, s, "GET", "/login", "", "Cookie", sid).Request)
	if err != nil {
		t.Fatal(err)
	}
	return b.Methods
}

// wrongOf is a code that is not the given one.
func wrongOf(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// TestCodeByMail: who can read letters to the verified address of a user logs in as them, once,
// in the browser that asked; it is off unless the site wants it.
func TestCodeByMail(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		if r, _ := askCode(t, s, jane); r.StatusCode != 404 {
			t.Fatalf("off: %d", r.StatusCode)
		}
		if r := send(t, s, "GET", "/login", ""); strings.Contains(r.text, "/login/mail") {
			t.Error("the login page leads to what is off")
		}
		configure(t, s, "login_with_code", "true")
		if r := send(t, s, "GET", "/login?redirect-to=%2Fx%3Fa%3D1", ""); !strings.Contains(r.text, "/login/mail?redirect-to=%2Fx%3Fa%3D1") {
			t.Error("the login page does not lead there")
		}
		proven(t, s, jane)
		for _, path := range []string{"/login/mail", "/login/mail?redirect-to=%2Fx"} {
			if r := send(t, s, "GET", path, ""); r.StatusCode != 200 || strings.Contains(r.text, "<script") {
				t.Errorf("%s: %d %s", path, r.StatusCode, r.text)
			}
		}
		r, cookie := askCode(t, s, "Jane@example.com", "redirect-to", "/x?a=1")
		if r.StatusCode != 303 || r.Header.Get("Location") != "/login/mail/code" || cookie == "" {
			t.Fatalf("asked: %d %s", r.StatusCode, r.text)
		}
		code, key := box.code(t, jane)
		if strings.Contains(r.Header.Get("Set-Cookie"), code) {
			t.Error("the cookie has the code")
		}
		// Another browser has nothing of it, not the link either.
		_, other := askCode(t, s, jane)
		code2, _ := box.code(t, jane)
		for _, wrong := range []reply{withMailed(t, s, other, "code", code), withMailed(t, s, other, "key", key)} {
			if code != code2 && (wrong.StatusCode != 401 || wrong.sid() != "") {
				t.Errorf("in another browser: %d", wrong.StatusCode)
			}
		}
		for _, none := range []string{"", "login_mail=x", "login_mail=" + strings.Repeat("0", 64)} {
			if r := withMailed(t, s, none, "code", code); r.StatusCode != 410 || r.sid() != "" {
				t.Errorf("with %q: %d", none, r.StatusCode)
			}
		}
		// Looking at the link logs nobody in.
		if r := send(t, s, "GET", "/login/mail/code?key="+key, "", "Cookie", cookie); r.StatusCode != 200 || r.sid() != "" || r.Header.Get("Referrer-Policy") != "strict-origin" {
			t.Errorf("the link: %d", r.StatusCode)
		}
		if r := send(t, s, "GET", "/login/mail/code?key="+key, ""); r.StatusCode != 410 {
			t.Errorf("the link elsewhere: %d", r.StatusCode)
		}
		if r := withMailed(t, s, cookie, "code", code, "Origin", "https://evil.example"); r.StatusCode != 400 {
			t.Errorf("from a page of another site: %d", r.StatusCode)
		}
		// Of two at once one gets in.
		var wait sync.WaitGroup
		got := make([]reply, 2)
		for i := range got {
			wait.Go(func() { got[i] = withMailed(t, s, cookie, "code", code[:3]+" "+code[3:]) })
		}
		wait.Wait()
		if a, b := got[0].StatusCode, got[1].StatusCode; a+b != 303+401 {
			t.Fatalf("two at once: %d and %d", a, b)
		}
		in := got[0]
		if in.StatusCode != 303 {
			in = got[1]
		}
		if amr := shownBy(t, s, in.sid()); !slices.Equal(amr, []string{"otp"}) {
			t.Errorf("shown: %v", amr)
		}
		if in.Header.Get("Location") != "/x?a=1" || who(t, s, in.sid()) != jane {
			t.Errorf("in: %s as %s", in.Header.Get("Location"), who(t, s, in.sid()))
		}
		for _, again := range []reply{withMailed(t, s, cookie, "code", code), withMailed(t, s, cookie, "key", key)} {
			if again.StatusCode != 401 {
				t.Errorf("again: %d", again.StatusCode)
			}
		}
		_, cookie = askCode(t, s, jane)
		_, key = box.code(t, jane)
		if r := withMailed(t, s, cookie, "key", key); r.StatusCode != 303 || who(t, s, r.sid()) != jane {
			t.Errorf("by the link: %d", r.StatusCode)
		}
		_, cookie = askCode(t, s, jane)
		late, _ := box.code(t, jane)
		c.advance(11 * time.Minute)
		if r := withMailed(t, s, cookie, "code", late); r.StatusCode != 410 {
			t.Errorf("too late: %d", r.StatusCode)
		}
		log := s.Admin.Get("/api/resource/Activity Log", "fields", []string{"*"}, "limit", "0").Text
		if !strings.Contains(log, "with a code by mail") || !strings.Contains(log, "Login Code: a code for "+jane) || strings.Contains(log, code) || strings.Contains(log, key) {
			t.Errorf("the Activity Log: %s", log)
		}
	})
}

// TestCodeByMailForNobody: what is answered and what is done are the same for who is no user,
// whose address is not verified, who is disabled, who is the Administrator or a program's.
func TestCodeByMailForNobody(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		configure(t, s, "login_with_code", "true")
		for _, user := range []string{"off@example.com", "known@example.com"} {
			s.User(t, user)
			proven(t, s, user)
		}
		s.Admin.Put("/api/resource/User/off@example.com", map[string]any{"enabled": 0}).OK(t)
		proven(t, s, "Administrator")
		s.Admin.Post("/api/resource/User", map[string]any{"email": "robot@example.com", "first_name": "R", "user_type": "Service"}).OK(t)
		proven(t, s, "robot@example.com")

		r, cookie := askCode(t, s, "known@example.com")
		right, _ := box.code(t, "known@example.com")
		seen := []reply{r, send(t, s, "GET", "/login/mail/code", "", "Cookie", cookie), withMailed(t, s, cookie, "code", wrongOf(right))}
		for _, typed := range []string{jane, "nobody@example.com", "off@example.com", "Administrator", "admin@example.com", "robot@example.com", "Guest"} {
			r, cookie := askCode(t, s, typed)
			all := []reply{r, send(t, s, "GET", "/login/mail/code", "", "Cookie", cookie), withMailed(t, s, cookie, "code", "000000")}
			for i, got := range all {
				same := strings.ReplaceAll(got.text, typed, "known@example.com") == seen[i].text
				if got.StatusCode != seen[i].StatusCode || !same || got.Header.Get("Location") != seen[i].Header.Get("Location") {
					t.Errorf("%s, step %d: %d %s, not %d %s", typed, i, got.StatusCode, got.text, seen[i].StatusCode, seen[i].text)
				}
			}
		}
		// The next letter is of the user who is asked for next: none went to the others.
		proven(t, s, jane)
		askCode(t, s, jane)
		box.code(t, jane)
		for _, bad := range []string{"", " ", strings.Repeat("x", 141)} {
			if r, _ := askCode(t, s, bad); r.StatusCode != 417 {
				t.Errorf("%q: %d", bad, r.StatusCode)
			}
		}
	})
}

// TestCodeByMailGuessed: five codes are looked at for a letter, however many come at once, wrong
// ones count as wrong passwords do, and those of a user are bounded for a day.
func TestCodeByMailGuessed(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		for key, value := range map[string]string{"login_with_code": "true", "login_code_limit": "100", "allow_consecutive_login_attempts": "100"} {
			configure(t, s, key, value)
		}
		proven(t, s, jane)
		for _, user := range []string{jane, "nobody@example.com"} {
			_, cookie := askCode(t, s, user)
			code, key := "111111", ""
			if user == jane {
				code, key = box.code(t, jane)
			}
			var wait sync.WaitGroup
			for range 6 {
				wait.Go(func() { withMailed(t, s, cookie, "code", wrongOf(code)) })
			}
			wait.Wait()
			if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 401 || r.sid() != "" {
				t.Errorf("%s, the right one after six: %d", user, r.StatusCode)
			}
			if key != "" {
				if r := withMailed(t, s, cookie, "key", key); r.StatusCode != 401 {
					t.Errorf("the link after six: %d", r.StatusCode)
				}
			}
			for i := range 14 {
				_, again := askCode(t, s, user)
				if user == jane {
					code, _ = box.code(t, jane)
				}
				r := withMailed(t, s, again, "code", wrongOf(code))
				if want := r.StatusCode == 401; want != (i < 12 || i < 13 && user != jane) {
					t.Errorf("%s, guess %d: %d", user, i, r.StatusCode)
				}
			}
			_, again := askCode(t, s, user)
			if user == jane {
				code, key = box.code(t, jane)
			}
			r := withMailed(t, s, again, "code", code)
			if r.StatusCode != 429 || r.Header.Get("Retry-After") == "" {
				t.Errorf("%s, the right one after too many: %d", user, r.StatusCode)
			}
			if user == jane {
				if r := withMailed(t, s, again, "key", key); r.StatusCode != 303 {
					t.Errorf("by the link, which nobody guesses: %d", r.StatusCode)
				}
			}
		}
	})
}

// TestCodeByMailShared: codes and passwords lock out together, and letters are bounded for an
// address under whatever name, a network and the site.
func TestCodeByMailShared(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		for key, value := range map[string]string{"login_with_code": "true", "allow_consecutive_login_attempts": "3"} {
			configure(t, s, key, value)
		}
		proven(t, s, jane)
		_, cookie := askCode(t, s, jane)
		code, _ := box.code(t, jane)
		for range 4 {
			withMailed(t, s, cookie, "code", wrongOf(code))
		}
		login(t, s, jane, right).fails(t, 429, "RateLimitExceededError")
		c.advance(2 * time.Minute)
		_, cookie = askCode(t, s, jane)
		code, _ = box.code(t, jane)
		for range 4 {
			login(t, s, jane, "wrong")
		}
		if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 429 {
			t.Errorf("locked out by passwords: %d", r.StatusCode)
		}
		c.advance(2 * time.Minute)
		if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 303 {
			t.Errorf("afterwards: %d", r.StatusCode)
		}
		c.advance(2 * time.Hour)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"username": "janed"}).OK(t)
		configure(t, s, "login_code_limit", "2")
		for i, typed := range []string{jane, "janed", "janed", jane} {
			if r, _ := askCode(t, s, typed); r.StatusCode != 303 {
				t.Errorf("wish %d: %d", i, r.StatusCode)
			}
		}
		box.code(t, jane)
		box.code(t, jane)
		if r, _ := askCode(t, s, jane); r.StatusCode != 429 || r.Header.Get("Retry-After") == "" {
			t.Errorf("the third wish: %d", r.StatusCode)
		}
		configure(t, s, "login_code_letters_per_hour", "5")
		for i, want := range []int{303, 429} {
			if r, _ := askCode(t, s, strings.Repeat("x", i+1)+"@example.com"); r.StatusCode != want {
				t.Errorf("wish %d of the site: %d", i, r.StatusCode)
			}
		}
		// The letters that janed was not sent are none that come late.
		proven(t, s, jane)
		c.advance(2 * time.Hour)
		_, cookie = askCode(t, s, jane)
		code, _ = box.code(t, jane)
		if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 303 {
			t.Errorf("the next one: %d", r.StatusCode)
		}
	})
}

// TestCodeByMailAndFactor: a code by mail is the password's equal and no more.
func TestCodeByMailAndFactor(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		configure(t, s, "login_with_code", "true")
		proven(t, s, jane)
		a, _ := enrolled(t, s, c, loggedIn(t, s, jane))
		_, cookie := askCode(t, s, jane, "redirect-to", "/app/password")
		code, _ := box.code(t, jane)
		r := withMailed(t, s, cookie, "code", code)
		if r.StatusCode != 303 || r.sid() != "" || !strings.HasPrefix(r.Header.Get("Location"), "/login/code?") {
			t.Fatalf("without the factor: %d %s", r.StatusCode, r.Header.Get("Location"))
		}
		waits := r.cookies()
		if again := withMailed(t, s, cookie, "code", code); again.StatusCode != 401 {
			t.Errorf("the code again: %d", again.StatusCode)
		}
		// The code by mail is no code of the app, nor the other way round.
		if r := sendForm(t, s, "/login/code", url.Values{"code": {code}}, "Cookie", waits); r.StatusCode != 401 {
			t.Errorf("the same code twice: %d", r.StatusCode)
		}
		withCode(t, s, jane, code).fails(t, 401, "AuthenticationError")
		r = sendForm(t, s, "/login/code", url.Values{"code": {a.code(t)}, "redirect-to": {"/app/password"}}, "Cookie", waits)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/app/password" || who(t, s, r.sid()) != jane {
			t.Fatalf("with the factor: %d %s", r.StatusCode, r.text)
		}
		if amr := shownBy(t, s, r.sid()); !slices.Equal(amr, []string{"otp", "mfa"}) {
			t.Errorf("shown: %v", amr)
		}
		// Another password ends codes that are under way, as does being disabled.
		_, cookie = askCode(t, s, jane)
		code, _ = box.code(t, jane)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"new_password": other}).OK(t)
		if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 401 {
			t.Errorf("after another password: %d", r.StatusCode)
		}
		_, cookie = askCode(t, s, jane)
		code, _ = box.code(t, jane)
		configure(t, s, "login_with_code", "false")
		if r := withMailed(t, s, cookie, "code", code); r.StatusCode != 404 {
			t.Errorf("switched off: %d", r.StatusCode)
		}
	})
}
