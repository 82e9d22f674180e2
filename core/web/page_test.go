package web_test

import (
	"net/url"
	"strings"
	"testing"

	"armature/core/auth"
	"armature/core/sites/sitetest"
)

func TestLoginPage(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		r := send(t, s, "GET", "/login?redirect-to=%2Fapp%3Fa%3D%22%3E%3Cscript%3E", "", "Accept", "text/html")
		if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %s", policy)
		}
		for _, part := range []string{`<label for="usr">`, `<label for="pwd">`, `name="viewport"`, `lang="en"`, `action="/login"`, `method="post"`} {
			if !strings.Contains(r.text, part) {
				t.Errorf("the page lacks %s", part)
			}
		}
		if strings.Contains(r.text, "<script") || strings.Contains(r.text, `role="alert"`) || strings.Contains(r.text, "ZgotmplZ") {
			t.Errorf("the page: %s", r.text)
		}

		form := url.Values{"usr": {`jane@example.com"><b>`}, "pwd": {"wrong"}, "redirect-to": {"/app/todo?x=1"}}
		r = page(t, s, form)
		if r.StatusCode != 401 || !strings.Contains(r.text, `role="alert">Invalid login credentials`) || strings.Contains(r.text, `"><b>`) ||
			!strings.Contains(r.text, `value="/app/todo?x=1"`) || strings.Contains(r.text, "wrong") {
			t.Errorf("a wrong password: %d %s", r.StatusCode, r.text)
		}
		form.Set("usr", "jane@example.com")
		form.Set("pwd", right)
		r = page(t, s, form)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/app/todo?x=1" || who(t, s, r.sid()) != "jane@example.com" {
			t.Errorf("a right password: %d %v", r.StatusCode, r.Header)
		}
		sid := r.sid()
		if r := send(t, s, "GET", "/login", "", "Cookie", sid); r.StatusCode != 303 || r.Header.Get("Location") != "/app" {
			t.Errorf("logged in already: %d %v", r.StatusCode, r.Header)
		}
		if r := page(t, s, form, "Cookie", sid, "Authorization", "token no:no"); r.StatusCode != 303 || r.sid() == sid {
			t.Errorf("logging in again: %d %s", r.StatusCode, r.text)
		}
		if r := send(t, s, "PUT", "/login", ""); r.StatusCode != 405 {
			t.Errorf("PUT: %d", r.StatusCode)
		}
		if r := page(t, s, url.Values{"usr": {strings.Repeat("x", 64<<10)}}); r.StatusCode != 400 && r.StatusCode != 413 {
			t.Errorf("a gigantic form: %d", r.StatusCode)
		}
	})
}

func TestRedirectStaysHere(t *testing.T) {
	s := sitetest.New(t, "")
	s.User(t, "jane@example.com", "System Manager")
	setPassword(t, s, "jane@example.com", right)
	sid := loggedIn(t, s, "jane@example.com")
	tests := map[string]string{
		"/app/todo?a=b#c": "/app/todo?a=b#c", "/": "/", "": "/app",
		"//evil.example": "/app", "https:evil.example": "/app", "https://evil.example": "/app", `/\evil.example`: "/app",
		`\\evil.example`: "/app", "/\t/evil.example": "/app", "/\n/evil.example": "/app", " //evil.example": "/app",
		"///evil.example": "/app", "javascript:alert(1)": "/app", "evil.example": "/app", "/a\r\nSet-Cookie: x=y": "/app",
		"/%zz": "/app", "/" + strings.Repeat("a", 17<<10): "/app", `/a\..\b`: "/app",
	}
	for wish, want := range tests {
		r := send(t, s, "GET", "/login?"+url.Values{"redirect-to": {wish}}.Encode(), "", "Cookie", sid)
		if r.StatusCode != 303 || r.Header.Get("Location") != want {
			t.Errorf("GET %.40q: %d to %q, want %q", wish, r.StatusCode, r.Header.Get("Location"), want)
		}
		r = page(t, s, url.Values{"redirect-to": {wish}, "usr": {"jane@example.com"}, "pwd": {right}})
		if r.StatusCode != 303 || r.Header.Get("Location") != want {
			t.Errorf("POST %.40q: %d to %q, want %q", wish, r.StatusCode, r.Header.Get("Location"), want)
		}
		sid = r.sid()
	}
}

func TestForgedRequests(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sid := loggedIn(t, s, "jane@example.com")
		create := func(headers ...string) reply {
			t.Helper()
			return send(t, s, "POST", "/api/resource/ToDo", `{"description":"y"}`, append(headers, "Content-Type", "application/json")...)
		}
		passes := func(r reply) {
			t.Helper()
			if r.StatusCode != 200 {
				t.Errorf("%d %s", r.StatusCode, r.text)
			}
		}
		passes(create("Cookie", sid)) // a script with the cookie alone
		passes(create("Cookie", sid, "Sec-Fetch-Site", "same-origin"))
		create("Cookie", sid, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, "Sec-Fetch-Site", "same-site").fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, "Origin", "https://evil.example").fails(t, 400, "CSRFTokenError")
		passes(create("Authorization", s.Admin.Authorization, "Sec-Fetch-Site", "cross-site"))
		passes(send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", sid, "Sec-Fetch-Site", "cross-site"))
		login(t, s, "jane@example.com", right, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		if r := page(t, s, url.Values{"usr": {"jane@example.com"}, "pwd": {right}}, "Origin", "https://evil.example"); r.StatusCode != 400 || r.sid() != "" {
			t.Errorf("a login from another site: %d", r.StatusCode)
		}
		send(t, s, "POST", "/api/method/logout", "", "Cookie", sid, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")

		// From the moment a page has been given a token, it is needed.
		req := send(t, s, "GET", "/login", "", "Cookie", sid).Request
		token, err := s.Tenant.Auth.CSRFToken(t.Context(), req)
		if err != nil || len(token) != 64 {
			t.Fatalf("%q, %v", token, err)
		}
		create("Cookie", sid).fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, auth.CSRFHeader, strings.Repeat("0", 64)).fails(t, 400, "CSRFTokenError")
		passes(create("Cookie", sid, "X-Framework-CSRF-Token", token))
		passes(send(t, s, "POST", "/api/resource/ToDo?csrf_token="+token, `{"description":"y"}`, "Cookie", sid, "Content-Type", "application/json"))
		other := loggedIn(t, s, "jane@example.com")
		passes(create("Cookie", other))
		configure(t, s, "allowed_referrers", `["Friend.example"]`)
		passes(create("Cookie", sid, "Origin", "https://friend.example"))
		create("Cookie", sid, "Origin", "https://notfriend.example").fails(t, 400, "CSRFTokenError")
		configure(t, s, "allow_cors", `["https://App.example:443", "http://localhost:5173"]`)
		passes(create("Cookie", sid, "Origin", "https://app.example", "Sec-Fetch-Site", "same-site"))
		passes(create("Cookie", sid, "Origin", "http://localhost:5173", "Sec-Fetch-Site", "cross-site"))
		create("Cookie", sid, "Origin", "http://localhost:5174", "Sec-Fetch-Site", "same-site").fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, "Origin", "http://app.example", "Sec-Fetch-Site", "same-site").fails(t, 400, "CSRFTokenError")
		sid = loggedIn(t, s, "jane@example.com", "Origin", "https://app.example", "Sec-Fetch-Site", "same-site")
		if r := page(t, s, url.Values{"usr": {"jane@example.com"}, "pwd": {right}}, "Origin", "https://app.example"); r.StatusCode != 400 || r.sid() != "" {
			t.Errorf("the site's own form, sent by a page of a named origin: %d", r.StatusCode)
		}
		configure(t, s, "allow_cors", `"*"`)
		create("Cookie", sid, "Origin", "https://anybody.example", "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, "Origin", "null", "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		create("Cookie", sid, "Origin", "*", "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		configure(t, s, "ignore_csrf", "1")
		passes(create("Cookie", sid))
		create("Cookie", sid, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
	})
}
