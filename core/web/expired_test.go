package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// TestExpiredIsSaid: a session that has ended makes a Guest, who is told why.
func TestExpiredIsSaid(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		if r := send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", sid); r.StatusCode != 200 || r.body["session_expired"] != nil {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		c.advance(171 * time.Hour)
		for _, cookie := range []string{sid, "sid=" + strings.Repeat("0", 64), "sid=rubbish", sid + "; " + sid} {
			r := send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", cookie)
			r.fails(t, 403, "PermissionError")
			if r.body["session_expired"] != 1.0 || len(r.Cookies()) != 0 {
				t.Errorf("%s: %s", cookie, r.text)
			}
			if r := send(t, s, "GET", "/api/method/ping", "", "Cookie", cookie); r.body["message"] != "pong" || r.body["session_expired"] != 1.0 {
				t.Errorf("%s: %s", cookie, r.text)
			}
			if r := send(t, s, "GET", "/api/openapi.json", "", "Cookie", cookie); r.StatusCode != 200 || r.body["session_expired"] != nil {
				t.Errorf("%s: the description says it too", cookie)
			}
		}
		for _, cookie := range []string{"sid=Guest", "other=1", "sid="} {
			if r := send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", cookie); r.StatusCode != 403 || r.body["session_expired"] != nil {
				t.Errorf("%s: %s", cookie, r.text)
			}
		}
		// A key counts beside a session that has ended.
		if r := send(t, s, "GET", "/api/resource/ToDo", "", "Cookie", sid, "Authorization", s.Admin.Authorization); r.StatusCode != 200 || r.body["session_expired"] != nil {
			t.Errorf("with a key: %s", r.text)
		}
		// It is recorded, and not for every request.
		rows := s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"subject", "status", "ip_address", "user_agent", "user"},
			"filters", [][]any{{"operation", "=", "Session"}}).List(t)
		if len(rows) != 1 {
			t.Fatalf("%d records: %v", len(rows), rows)
		}
		if row := rows[0].(map[string]any); row["ip_address"] != "127.0.0.1" || row["status"] != "Failed" || row["user"] != "Guest" {
			t.Errorf("record %v", row)
		}
	})
}

// TestTokenInTheBody: the CSRF token may be an argument of a form or of JSON.
func TestTokenInTheBody(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		sid := loggedIn(t, s, jane)
		token := csrfToken(t, s, sid)
		form := func(token string) reply {
			v := url.Values{"description": {"x"}, "csrf_token": {token}}
			return send(t, s, "POST", "/api/resource/ToDo", v.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
		}
		doc := func(token string) reply {
			return send(t, s, "POST", "/api/resource/ToDo", `{"description":"x","csrf_token":"`+token+`"}`, "Cookie", sid, "Content-Type", "application/json")
		}
		for _, post := range []func(string) reply{form, doc} {
			if r := post(token); r.StatusCode != 200 || r.body["data"].(map[string]any)["description"] != "x" {
				t.Errorf("%d %s", r.StatusCode, r.text)
			}
			post("").fails(t, 400, "CSRFTokenError")
			post(strings.Repeat("0", len(token))).fails(t, 400, "CSRFTokenError")
		}
		send(t, s, "POST", "/api/resource/ToDo", `{"csrf_token":`, "Cookie", sid, "Content-Type", "application/json").fails(t, 400, "CSRFTokenError")
		send(t, s, "POST", "/api/resource/ToDo", `["csrf_token"]`, "Cookie", sid, "Content-Type", "application/json").fails(t, 400, "CSRFTokenError")
		// The wrong one in the header is not made up for by the right one in the body.
		r := send(t, s, "POST", "/api/resource/ToDo", `{"description":"x","csrf_token":"`+token+`"}`, "Cookie", sid,
			"Content-Type", "application/json", "X-Framework-CSRF-Token", "wrong")
		r.fails(t, 400, "CSRFTokenError")
	})
}

// TestLoginSettings: what a site may forbid.
func TestLoginSettings(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		first := loggedIn(t, s, jane)
		configure(t, s, "deny_multiple_sessions", "1")
		second := loggedIn(t, s, jane)
		if a, b := who(t, s, first), who(t, s, second); a != "" || b != jane {
			t.Errorf("the first session is %q's, the second %q's", a, b)
		}
		configure(t, s, "disable_user_pass_login", "1")
		login(t, s, jane, right).fails(t, 401, "AuthenticationError")
		if who(t, s, second) != jane {
			t.Error("a session that was there ended")
		}
		configure(t, s, "disable_user_pass_login", "0")

		r := send(t, s, "GET", "/api/method/framework.realtime.get_user_info", "", "Cookie", second)
		if info := r.body["message"].(map[string]any); info["user"] != jane {
			t.Errorf("%s", r.text)
		}
		if r := send(t, s, "GET", "/api/method/framework.realtime.get_user_info", ""); r.body["message"].(map[string]any)["user"] != "Guest" {
			t.Errorf("%s", r.text)
		}
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"language": "de"}).OK(t)
		for _, c := range login(t, s, jane, right).Cookies() {
			if c.Name == "user_lang" && c.Value != "de" {
				t.Errorf("user_lang is %q", c.Value)
			}
		}
	})
}

// TestNewPassword: an administrator sets a password through the document, and
// nobody else.
func TestNewPassword(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		const rob = "rob@example.com"
		r := s.Admin.Post("/api/resource/User", map[string]any{"email": rob, "first_name": "Rob", "new_password": right}).OK(t)
		if strings.Contains(r.Text, right) || r.Data(t)["new_password"] != nil {
			t.Errorf("%s", r.Text)
		}
		sid := loggedIn(t, s, rob)
		s.Admin.Put("/api/resource/User/"+rob, map[string]any{"new_password": "password"}).Fails(t, 417, "ValidationError")
		s.Admin.Put("/api/resource/User/"+rob, map[string]any{"bio": "hello"}).OK(t)
		if who(t, s, sid) != rob {
			t.Error("a change without a password ended the session")
		}
		s.Admin.Put("/api/resource/User/"+rob, map[string]any{"new_password": other}).OK(t)
		if who(t, s, sid) != "" {
			t.Error("the session outlived the password")
		}
		login(t, s, rob, right).fails(t, 401, "AuthenticationError")
		if r := login(t, s, rob, other); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		own := s.As(t, rob)
		own.Put("/api/resource/User/"+rob, map[string]any{"new_password": right, "bio": "mine"}).OK(t)
		login(t, s, rob, right).fails(t, 401, "AuthenticationError")
		rows := s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"owner", "ip_address"},
			"filters", [][]any{{"operation", "=", "Password"}, {"user", "=", rob}}).List(t)
		if len(rows) != 2 {
			t.Fatalf("%d records of passwords", len(rows))
		}
		for _, row := range rows {
			if row := row.(map[string]any); row["ip_address"] != "127.0.0.1" || row["owner"] != "Administrator" {
				t.Errorf("record %v", row)
			}
		}
	})
}

// csrfToken is the token of a session, as a page gets it.
func csrfToken(t *testing.T, s *sitetest.Server, sid string) string {
	t.Helper()
	token, err := s.Tenant.Auth.CSRFToken(t.Context(), send(t, s, "GET", "/login", "", "Cookie", sid).Request)
	if err != nil || token == "" {
		t.Fatalf("%q, %v", token, err)
	}
	return token
}
