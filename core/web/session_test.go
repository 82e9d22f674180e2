package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// TestLogin is cases 55, 56 and 58 of the reference.
func TestLogin(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		r := login(t, s, "Jane@Example.com ", right)
		if r.StatusCode != 200 || r.body["message"] != "Logged In" || r.body["home_page"] != "/app" ||
			r.body["full_name"] != "Test" || r.body["dashboard_route"] != "/app" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		cookies := map[string]*http.Cookie{}
		for _, c := range r.Cookies() {
			cookies[c.Name] = c
		}
		for name, value := range map[string]string{"system_user": "yes", "full_name": "Test", "user_id": "jane@example.com", "user_image": "", "user_lang": "en"} {
			if c := cookies[name]; c == nil || c.Value != value || c.HttpOnly || c.Path != "/" || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("cookie %s: %+v", name, c)
			}
		}
		if c := cookies["sid"]; c == nil || len(c.Value) != 64 || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 {
			t.Errorf("cookie sid: %+v", c)
		}
		sid := r.sid()
		if list := send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", sid); list.StatusCode != 200 || len(list.body["data"].([]any)) != 1 {
			t.Errorf("a list by cookie: %d %s", list.StatusCode, list.text)
		}
		if user := who(t, s, sid); user != "jane@example.com" {
			t.Errorf("logged in as %q", user)
		}
		for _, c := range login(t, s.Trusting(t), "jane@example.com", right, "X-Forwarded-Proto", "https").Cookies() {
			if !c.Secure {
				t.Errorf("behind TLS, %s is not Secure", c.Name)
			}
		}

		wrong, unknown := login(t, s, "jane@example.com", "wrong"), login(t, s, "nobody@example.com", "wrong")
		wrong.fails(t, 401, "AuthenticationError")
		unknown.fails(t, 401, "AuthenticationError")
		if wrong.text != unknown.text || wrong.body["message"] != "Invalid login credentials" || wrong.sid() != "" {
			t.Errorf("%s\n%s", wrong.text, unknown.text)
		}
		login(t, s, "Guest", "wrong").fails(t, 401, "AuthenticationError")
		for message, pair := range map[string][2]string{
			"Incomplete login details":                        {"jane@example.com", ""},
			"Password size exceeded the maximum allowed size": {"jane@example.com", strings.Repeat("x", 513)},
		} {
			if r := login(t, s, pair[0], pair[1]); r.StatusCode != 401 || r.body["message"] != message {
				t.Errorf("%d %s, want %s", r.StatusCode, r.text, message)
			}
		}
		send(t, s, "GET", "/api/method/login?usr=jane@example.com&pwd=x", "").fails(t, 403, "PermissionError")
		send(t, s, "POST", "/api/method/login?usr=jane@example.com&pwd=x", "").fails(t, 400, "BadRequestError")
		if r := send(t, s, "POST", "/api/method/login", "usr=jane%40example.com&pwd=correct+horse+battery", "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 200 {
			t.Errorf("as a form: %d %s", r.StatusCode, r.text)
		}

		sid = loggedIn(t, s, "jane@example.com")
		if r := send(t, s, "POST", "/api/method/logout", "", "Cookie", sid); r.StatusCode != 200 || r.body == nil || r.sid() != "" || len(r.Cookies()) == 0 {
			t.Errorf("logout: %d %s", r.StatusCode, r.text)
		}
		send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", sid).fails(t, 403, "PermissionError")
	})
}

func TestWebsiteUser(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		s.User(t, "rob@example.com")
		setPassword(t, s, "rob@example.com", right)
		s.Admin.Put("/api/resource/User/rob@example.com", map[string]any{"username": "rob"}).OK(t)
		r := login(t, s, "rob", right)
		if r.StatusCode != 200 || r.body["message"] != "No App" || r.body["home_page"] != "/" {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
	})
}

func TestSessionEnds(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		gone := func(sid, why string) {
			t.Helper()
			if user := who(t, s, sid); user != "" {
				t.Errorf("%s: still %s", why, user)
			}
		}
		sid := loggedIn(t, s, jane)
		for range 3 {
			c.advance(169 * time.Hour)
			if who(t, s, sid) != jane {
				t.Fatal("a session that is used ended")
			}
		}
		c.advance(171 * time.Hour)
		gone(sid, "idle")

		sid = loggedIn(t, s, jane)
		for range 4 {
			c.advance(160 * time.Hour)
			who(t, s, sid)
		}
		c.advance(81 * time.Hour)
		gone(sid, "past its absolute end")

		first, second := loggedIn(t, s, jane), ""
		c.advance(time.Minute)
		second = loggedIn(t, s, jane)
		c.advance(time.Minute)
		third := loggedIn(t, s, jane)
		gone(first, "a third session")
		if who(t, s, second) != jane || who(t, s, third) != jane {
			t.Error("the later sessions ended")
		}

		setPassword(t, s, jane, "another good one")
		gone(second, "password change")
		gone(third, "password change")

		setPassword(t, s, jane, right)
		sid = loggedIn(t, s, jane)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 0}).OK(t)
		gone(sid, "disabled")
		if r := login(t, s, jane, right); r.StatusCode != 401 || r.body["message"] != "User disabled or missing" {
			t.Errorf("a disabled user: %d %s", r.StatusCode, r.text)
		}
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 1}).OK(t)
		gone(sid, "disabled and enabled again")
		sid = loggedIn(t, s, jane)
		if r := s.Admin.Delete("/api/resource/User/" + jane); r.Status != 202 {
			t.Fatalf("delete: %d %s", r.Status, r.Text)
		}
		gone(sid, "deleted")
	})
}

// TestFixation: a session is never one the client has brought along, and the one
// it brought along ends.
func TestFixation(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		planted := "sid=" + strings.Repeat("ab", 32)
		sid := loggedIn(t, s, "jane@example.com", "Cookie", planted)
		if sid == planted || who(t, s, planted) != "" {
			t.Error("a planted session came true")
		}
		again := loggedIn(t, s, "jane@example.com", "Cookie", sid)
		if again == sid || who(t, s, sid) != "" || who(t, s, again) == "" {
			t.Error("the session before the login lives on")
		}
	})
}

func TestForgedCookies(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sid := loggedIn(t, s, "jane@example.com")
		names := s.Admin.Get("/api/resource/Session").Column(t, "name")
		for _, cookie := range []string{
			"sid=", "sid=Guest", "sid=Administrator", "sid=%00", `sid="` + strings.TrimPrefix(sid, "sid=") + `x"`,
			"sid=" + strings.Repeat("0", 64), "sid=" + strings.Repeat("a", 32<<10), strings.ToUpper(sid), sid + "0",
			sid + "; sid=" + strings.Repeat("0", 64), "sid=' OR 1=1 --", "sid=" + names[0].(string),
		} {
			if user := who(t, s, cookie); user != "" {
				t.Errorf("%.60s is %s", cookie, user)
			}
		}
		if r := send(t, s, "GET", "/api/method/ping", "", "Cookie", "sid="+strings.Repeat("0", 64)); r.StatusCode != 200 {
			t.Errorf("a public method with an unknown session: %d", r.StatusCode)
		}
		s.Admin.Post("/api/resource/Session", map[string]any{"name": "x", "user": "jane@example.com"}).Fails(t, 403, "PermissionError")
		s.Admin.Put("/api/resource/Session/"+names[0].(string), map[string]any{"user": "Administrator"}).Fails(t, 403, "PermissionError")
		s.As(t, "jane@example.com").Get("/api/resource/Session").Fails(t, 403, "PermissionError")
	})
}

// TestPrecedence: a key wins over a session, and a wrong key is refused even
// with a session.
func TestPrecedence(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sid := loggedIn(t, s, "jane@example.com")
		if user := who(t, s, sid, "Authorization", s.Admin.Authorization); user != "Administrator" {
			t.Errorf("session and key: %q", user)
		}
		if user := who(t, s, "sid="+strings.Repeat("0", 64), "Authorization", s.Admin.Authorization); user != "Administrator" {
			t.Errorf("unknown session and key: %q", user)
		}
		send(t, s, "GET", "/api/method/ping", "", "Cookie", sid, "Authorization", "token no:no").fails(t, 401, "AuthenticationError")
		if r := login(t, s, "jane@example.com", right, "Authorization", "token no:no"); r.StatusCode != 200 {
			t.Errorf("a wrong key keeps from logging in: %d", r.StatusCode)
		}
	})
}

func TestParallelLogins(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sids := make([]string, 16)
		var wg sync.WaitGroup
		for i := range sids {
			wg.Go(func() {
				r := login(t, s, "jane@example.com", right)
				for tries := 1; r.StatusCode == 503 && tries < 10; tries++ { // a slow machine asks those who wait to try again
					r = login(t, s, "jane@example.com", right)
				}
				if r.StatusCode == 200 {
					sids[i] = r.sid()
				} else {
					t.Errorf("%d %s", r.StatusCode, r.text)
				}
			})
		}
		wg.Wait()
		alive := 0
		for _, sid := range sids {
			if who(t, s, sid) != "" {
				alive++
			}
		}
		if alive != 2 {
			t.Errorf("%d sessions are left", alive)
		}
	})
}

// TestConditions are what a user's document and the site say about logging in.
func TestConditions(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		tests := []struct {
			values map[string]any
			status int
		}{
			{map[string]any{"restrict_ip": "10.1, 127.0"}, 200},
			{map[string]any{"restrict_ip": "12\n10.1"}, 401},
			{map[string]any{"restrict_ip": "", "login_before": 12}, 401},
			{map[string]any{"login_before": 13}, 200},
			{map[string]any{"login_before": 0, "login_after": 13}, 401},
			{map[string]any{"login_after": 0, "simultaneous_sessions": 1}, 200},
		}
		for _, tt := range tests {
			s.Admin.Put("/api/resource/User/"+jane, tt.values).OK(t)
			if r := login(t, s, jane, right); r.StatusCode != tt.status {
				t.Errorf("%v: %d %s", tt.values, r.StatusCode, r.text)
			}
		}
		first := loggedIn(t, s, jane)
		second := loggedIn(t, s, jane)
		if who(t, s, first) != "" || who(t, s, second) != jane {
			t.Error("a second session of a user who has one")
		}
		configure(t, s, "session_expiry", `"01:30"`)
		c.advance(89 * time.Minute)
		if who(t, s, second) != jane {
			t.Error("ended too early")
		}
		c.advance(91 * time.Minute)
		if who(t, s, second) != "" {
			t.Error("ended too late")
		}
	})
}

// TestWebLogout: as logout, for a browser that shows the answer; a page of
// another site logs nobody out.
func TestWebLogout(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sid := loggedIn(t, s, jane)
		send(t, s, "GET", "/api/method/web_logout", "", "Cookie", sid).fails(t, 403, "PermissionError")
		send(t, s, "POST", "/api/method/web_logout", "", "Cookie", sid, "Origin", "https://other.example").fails(t, 400, "CSRFTokenError")
		if who(t, s, sid) != jane {
			t.Fatal("logged out")
		}
		r := send(t, s, "POST", "/api/method/web_logout", "", "Cookie", sid)
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/login?logged-out=1" || r.sid() != "" {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}
		if user := who(t, s, sid); user != "" {
			t.Errorf("still %s", user)
		}
	})
}
