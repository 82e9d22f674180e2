package web_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"armature/core/auth"
	"armature/core/identity"
	"armature/core/sites/sitetest"

	"armature/core/scope"
)

// sendForm sends a form as a browser does.
func sendForm(t *testing.T, s *sitetest.Server, path string, form url.Values, headers ...string) reply {
	t.Helper()
	return send(t, s, "POST", path, form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

func TestForgotPage(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		box := mailed(t, s)
		if r := send(t, s, "GET", "/login", ""); !strings.Contains(r.text, `href="/forgot-password"`) {
			t.Error("the login page does not lead there")
		}
		stale := "sid=" + strings.Repeat("0", 64) // as a browser that has not been here for long
		known := sendForm(t, s, "/forgot-password", url.Values{"user": {jane}}, "Cookie", stale)
		unknown := sendForm(t, s, "/forgot-password", url.Values{"user": {"nobody@example.com"}})
		if known.StatusCode != 200 || known.text != unknown.text || !strings.Contains(known.text, "If there is such an account") {
			t.Errorf("%d %s\n%d %s", known.StatusCode, known.text, unknown.StatusCode, unknown.text)
		}
		key := box.next(t).key(t)
		if r := send(t, s, "GET", "/update-password?key="+key, ""); r.StatusCode != 200 || !strings.Contains(r.text, jane) {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := sendForm(t, s, "/forgot-password", url.Values{"user": {" "}}); r.StatusCode != 417 || !strings.Contains(r.text, `role="alert"`) {
			t.Errorf("nobody: %d %s", r.StatusCode, r.text)
		}
		sendForm(t, s, "/forgot-password", url.Values{"user": {jane}}, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		for range 2 {
			sendForm(t, s, "/forgot-password", url.Values{"user": {jane}})
		}
		if r := sendForm(t, s, "/forgot-password", url.Values{"user": {jane}}); r.StatusCode != 429 || r.Header.Get("Retry-After") == "" || !strings.Contains(r.text, "Too many") {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}
	})
}

func TestResetPage(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		reset, err := s.Tenant.Auth.NewReset(t.Context(), jane, auth.Remote{})
		if err != nil {
			t.Fatal(err)
		}
		link := "/update-password?key=" + reset.Key
		r := send(t, s, "GET", link, "")
		if r.StatusCode != 200 || r.Header.Get("Referrer-Policy") != "strict-origin" || r.Header.Get("Cache-Control") != "no-store" ||
			r.Header.Get("X-Frame-Options") != "DENY" || !strings.Contains(r.text, `name="key" value="`+reset.Key+`"`) {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}
		form := func(first, again string) url.Values {
			return url.Values{"key": {reset.Key}, "new": {first}, "again": {again}}
		}
		for want, f := range map[string]url.Values{
			"The two new passwords are not the same": form(other, other+"x"),
			"has 8 to":                               form("short", "short"),
			"most common ones":                       form("password1", "password1"),
		} {
			r := sendForm(t, s, "/update-password", f)
			if r.StatusCode != 417 || !strings.Contains(r.text, want) || strings.Contains(r.text, `value="`+f.Get("new")) || !strings.Contains(r.text, reset.Key) {
				t.Errorf("%s: %d %s", want, r.StatusCode, r.text)
			}
		}
		sendForm(t, s, "/update-password", form(other, other), "Origin", "https://evil.example").fails(t, 400, "CSRFTokenError")
		sid := loggedIn(t, s, jane)
		// The link is for whoever holds it, also where somebody is logged in whose
		// pages have a token.
		if _, err := s.Tenant.Auth.CSRFToken(t.Context(), send(t, s, "GET", "/login", "", "Cookie", sid).Request); err != nil {
			t.Fatal(err)
		}
		r = sendForm(t, s, "/update-password", form(other, other), "Cookie", sid)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/login?password=changed" || who(t, s, sid) != "" {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}
		if r := login(t, s, jane, other); r.StatusCode != 200 {
			t.Errorf("the new password: %d", r.StatusCode)
		}
		for _, r := range []reply{send(t, s, "GET", link, ""), sendForm(t, s, "/update-password", form(other, other)), send(t, s, "GET", "/update-password", ""), send(t, s, "GET", "/update-password?key=%22%3E%3Cb%3E", "")} {
			if r.StatusCode != 410 || !strings.Contains(r.text, "does not work any more") || !strings.Contains(r.text, `href="/forgot-password"`) || strings.Contains(r.text, "<b>") {
				t.Errorf("a spent link: %d %s", r.StatusCode, r.text)
			}
		}
	})
}

func TestChangePage(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		if r := send(t, s, "GET", "/app/password", ""); r.StatusCode != 303 || r.Header.Get("Location") != "/login?redirect-to=%2Fapp%2Fpassword" {
			t.Errorf("a guest: %d %v", r.StatusCode, r.Header)
		}
		sid, second := loggedIn(t, s, jane), loggedIn(t, s, jane)
		form := token(t, send(t, s, "GET", "/app/password", "", "Cookie", sid).text)
		form["old"], form["new"], form["again"] = []string{"wrong"}, []string{other}, []string{other}
		if r := sendForm(t, s, "/app/password", form, "Cookie", sid); r.StatusCode != 417 || !strings.Contains(r.text, "The old password is wrong") || who(t, s, sid) != jane {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		form.Set("old", right)
		sendForm(t, s, "/app/password", url.Values{"old": {right}, "new": {other}, "again": {other}}, "Cookie", sid).fails(t, 400, "CSRFTokenError")
		r := sendForm(t, s, "/app/password", form, "Cookie", sid)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/app?password=changed" || who(t, s, sid) != jane || who(t, s, second) != "" {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}
	})
}

// TestPagesAreForPeople: what was agreed to with an application is no page.
func TestPagesAreForPeople(t *testing.T) {
	if err := pages().ServePage(nil, httptest.NewRequest("GET", "/app", nil), &identity.Caller{User: jane, Scopes: []*scope.Set{scope.Token("all")}}); err == nil {
		t.Error("a token reads the pages")
	}
}
