package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

var (
	tokenField     = regexp.MustCompile(`name="csrf_token" value="([^"]+)"`)
	enrolmentField = regexp.MustCompile(`name="enrolment" value="([^"]+)"`)
	keyShown       = regexp.MustCompile(`<code id="key">([A-Z2-7]+)</code>`)
	codeShown      = regexp.MustCompile(`<li><code>([0-9A-Z-]{19})</code></li>`)
)

func found(t *testing.T, re *regexp.Regexp, text string) string {
	t.Helper()
	m := re.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %s", re, text)
	}
	return html.UnescapeString(m[1])
}

func TestSecondFactorPages(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		sid := loggedIn(t, s, jane)
		post := func(sid string, f url.Values) reply {
			t.Helper()
			return send(t, s, "POST", "/app/second-factor", f.Encode(), append(form, "Cookie", sid)...)
		}
		token := found(t, tokenField, send(t, s, "GET", "/app/second-factor", "", "Cookie", sid).text)
		if r := post(sid, url.Values{"do": {"begin"}}); r.StatusCode != 400 {
			t.Errorf("without the CSRF token: %d", r.StatusCode)
		}
		begun := post(sid, url.Values{"do": {"begin"}, "csrf_token": {token}})
		a := app{found(t, keyShown, begun.text), c}
		confirm := url.Values{"do": {"confirm"}, "csrf_token": {token}, "enrolment": {found(t, enrolmentField, begun.text)}, "code": {"000000"}}
		wrong := post(sid, confirm)
		if wrong.StatusCode != 417 || found(t, keyShown, wrong.text) != a.secret {
			t.Fatalf("after a wrong code: %d, and the key must stay", wrong.StatusCode)
		}
		confirm.Set("code", a.code(t))
		done := post(sid, confirm)
		if codes := codeShown.FindAllString(done.text, -1); done.StatusCode != 200 || len(codes) != 10 {
			t.Fatalf("%d, %d codes: %s", done.StatusCode, len(codes), done.text)
		}

		asked := page(t, s, url.Values{"usr": {jane}, "pwd": {right}, "redirect-to": {"/app/password?x=1"}})
		if asked.StatusCode != 303 || asked.sid() != "" || asked.Header.Get("Location") != "/login/code?redirect-to=%2Fapp%2Fpassword%3Fx%3D1" {
			t.Fatalf("%d to %s with %q", asked.StatusCode, asked.Header.Get("Location"), asked.cookies())
		}
		waits := asked.cookies()
		if who(t, s, waits) != "" {
			t.Error("what waits for a code is a session")
		}
		enter := func(cookie string, f url.Values) reply {
			t.Helper()
			return send(t, s, "POST", "/login/code", f.Encode(), append(form, "Cookie", cookie)...)
		}
		if r := send(t, s, "GET", "/login/code", "", "Cookie", waits); r.StatusCode != 200 || !strings.Contains(r.text, jane) {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := enter(waits, url.Values{"code": {"000000"}}); r.StatusCode != 401 || r.sid() != "" {
			t.Errorf("with a wrong code %d", r.StatusCode)
		}
		in := enter(waits, url.Values{"code": {a.code(t)}, "remember": {"1"}, "redirect-to": {"//evil.example/"}})
		if in.StatusCode != 303 || in.Header.Get("Location") != "/app" || who(t, s, in.sid()) != jane {
			t.Fatalf("%d to %s", in.StatusCode, in.Header.Get("Location"))
		}
		for _, c := range in.Cookies() {
			if strings.HasPrefix(c.Name, "known_") && (!c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 30*24*3600) {
				t.Errorf("cookie %v", c)
			}
		}
		testKnownBrowser(t, s, c, a, in.cookies())
	})
}

// testKnownBrowser goes on where a browser has been remembered.
func testKnownBrowser(t *testing.T, s *sitetest.Server, c *clock, a app, known string) {
	t.Helper()
	if r := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}, "Cookie", known); r.sid() == "" {
		t.Error("a known browser is asked for a code")
	}
	if r := page(t, s, url.Values{"usr": {jane}, "pwd": {right}, "second-factor": {"1"}}, "Cookie", known); r.sid() != "" {
		t.Error("a known browser does where the factor itself is asked for")
	}
	if r := page(t, s, url.Values{"usr": {jane}, "pwd": {"wrong"}}, "Cookie", known); r.StatusCode != 401 {
		t.Error("a known browser replaces the password")
	}
	c.advance(31 * 24 * time.Hour)
	if r := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}, "Cookie", known); r.sid() != "" {
		t.Error("a browser is known for ever")
	}
	again := func() string {
		t.Helper()
		waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
		r := send(t, s, "POST", "/login/code", url.Values{"code": {a.code(t)}, "remember": {"1"}}.Encode(),
			"Cookie", waits, "Content-Type", "application/x-www-form-urlencoded")
		return r.cookies()
	}
	for what, forgets := range map[string]func(){
		"another password": func() { setPassword(t, s, jane, right) },
		"the setting":      func() { configure(t, s, "second_factor_every_time", "true") },
	} {
		known := again()
		if !strings.Contains(known, "known_") {
			continue // the setting came first
		}
		forgets()
		if r := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}, "Cookie", known); r.sid() != "" {
			t.Errorf("a browser is known after %s", what)
		}
	}
}
