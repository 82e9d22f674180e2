package web_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// TestHeaderBesideCookie: what a program says in the Authorization header is who
// it is, whatever session the browser holds, and neither does anything to the
// other.
func TestHeaderBesideCookie(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		s.User(t, "bob@example.com")
		bob := s.As(t, "bob@example.com").Authorization
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(bob, "token ")))
		sid := loggedIn(t, s, jane)
		ask := func(authorization ...string) reply {
			t.Helper()
			headers := []string{"Cookie", sid}
			for _, a := range authorization {
				headers = append(headers, "Authorization", a)
			}
			return send(t, s, "GET", "/api/method/framework.auth.get_logged_user", "", headers...)
		}
		for _, header := range []string{bob, basic, "TOKEN" + strings.TrimPrefix(bob, "token")} {
			if r := ask(header); r.body["message"] != "bob@example.com" {
				t.Errorf("%q beside jane's session is %s", header, r.text)
			}
		}
		for _, header := range []string{"Bearer stale", "Bearer", "Bearer ", "token x", "Bearer a b", bob + "0"} {
			r := ask(header)
			r.fails(t, 401, "AuthenticationError")
			if len(r.Cookies()) != 0 {
				t.Errorf("%q changes the browser's cookies: %v", header, r.Cookies())
			}
		}
		if r := ask(); r.body["message"] != jane {
			t.Errorf("the session is gone: %s", r.text)
		}
		// bob may not create ToDos for all that jane may.
		send(t, s, "POST", "/api/resource/User", `{"email":"x@example.com","first_name":"x"}`,
			"Cookie", sid, "Authorization", bob, "Content-Type", "application/json").fails(t, 403, "PermissionError")
		// Nor does he end her session or change her password by it.
		for _, path := range []string{"/api/method/logout", "/api/method/web_logout", "/logout"} {
			if r := send(t, s, "POST", path, "", "Cookie", sid, "Authorization", bob); len(r.Cookies()) != 0 {
				t.Errorf("%s clears the cookies: %v", path, r.Cookies())
			}
		}
		if who(t, s, sid) != jane {
			t.Error("a program ended the session beside its header")
		}
	})
}

// TestTwoHeaders: of two nobody knows which counts, so none does.
func TestTwoHeaders(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/method/framework.auth.get_logged_user", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, second := range []string{"", s.Admin.Authorization, "Bearer x"} {
			r.Header["Authorization"] = []string{s.Admin.Authorization, second}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != 401 {
				t.Errorf("with %q as the second: %d", second, res.StatusCode)
			}
		}
	})
}

// TestSecureCookie: over TLS the session is in a cookie that no other host and no
// page in clear text can set, and one of another name is none.
func TestSecureCookie(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		behind := s.Trusting(t)
		tls := []string{"X-Forwarded-Proto", "https"}
		var found *http.Cookie
		for _, c := range login(t, behind, jane, right, tls...).Cookies() {
			if c.Name == "sid" {
				t.Error("the bare name is set over TLS")
			}
			if c.Name == "__Host-sid" {
				found = c
			}
		}
		if found == nil || !found.Secure || !found.HttpOnly || found.Path != "/" || found.Domain != "" || found.SameSite != http.SameSiteLaxMode {
			t.Fatalf("cookie %+v", found)
		}
		is := func(cookie string, headers ...string) string {
			t.Helper()
			r := send(t, behind, "GET", "/api/method/framework.auth.get_logged_user", "", append(headers, "Cookie", cookie)...)
			if r.StatusCode != 200 {
				return ""
			}
			name, _ := r.body["message"].(string)
			return name
		}
		if got := is("__Host-sid="+found.Value, tls...); got != jane {
			t.Errorf("over TLS: %q", got)
		}
		if got := is("sid="+found.Value, tls...); got == jane {
			t.Error("a planted sid counts over TLS")
		}
		if got := is("__Host-sid=" + found.Value); got == jane {
			t.Error("the secure cookie counts in clear text")
		}
		r := send(t, behind, "POST", "/api/method/logout", "", append(tls, "Cookie", "__Host-sid="+found.Value)...)
		if c := r.Cookies(); len(c) == 0 || c[0].Name != "__Host-sid" || !c[0].Secure || c[0].Path != "/" || c[0].MaxAge >= 0 {
			t.Errorf("a logout leaves %v", c)
		}
		if got := is("__Host-sid="+found.Value, tls...); got == jane {
			t.Error("still logged in")
		}
	})
}

// TestCookieLivesAsTheSession: as long as it would if nobody used it, and longer
// when somebody does.
func TestCookieLivesAsTheSession(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		age := func(r reply) time.Duration {
			for _, c := range r.Cookies() {
				if c.Name == "sid" {
					return time.Duration(c.MaxAge) * time.Second
				}
			}
			return 0
		}
		r := login(t, s, jane, right)
		sid := r.sid()
		if age(r) != 170*time.Hour {
			t.Errorf("after the login: %v", age(r))
		}
		ask := func() reply {
			t.Helper()
			return send(t, s, "GET", "/api/method/framework.auth.get_logged_user", "", "Cookie", sid)
		}
		if r := ask(); age(r) != 0 {
			t.Errorf("a cookie for every request: %v", r.Cookies())
		}
		c.advance(time.Hour)
		if r := ask(); age(r) != 170*time.Hour || r.sid() != sid {
			t.Errorf("after an hour: %v %v", age(r), r.Cookies())
		}
		for range 4 {
			c.advance(160 * time.Hour)
			r = ask()
		}
		if want := 30*24*time.Hour - 641*time.Hour; age(r) != want {
			t.Errorf("near the end: %v, want %v", age(r), want)
		}
		configure(t, s, "session_expiry", `"01:30"`)
		if r := login(t, s, jane, right); age(r) != 90*time.Minute {
			t.Errorf("with session_expiry: %v", age(r))
		}
		// What others may keep carries nobody's session.
		c.advance(time.Hour)
		sid = loggedIn(t, s, jane)
		c.advance(time.Hour)
		if r := send(t, s, "GET", "/favicon.svg", "", "Cookie", sid); len(r.Cookies()) != 0 {
			t.Errorf("a public answer sets %v", r.Cookies())
		}
	})
}
