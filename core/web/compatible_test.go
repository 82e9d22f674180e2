package web_test

import (
	"net/http"
	"testing"

	"armature/core/sites/sitetest"
)

// TestLogoutByGet: a client that knows GET alone logs out by it where the site wants
// that, and no page of another site has anybody logged out.
func TestLogoutByGet(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		const jane, path = "jane@example.com", "/api/method/logout"
		sid := loggedIn(t, s, jane)
		send(t, s, "GET", path, "", "Cookie", sid).fails(t, 403, "PermissionError")
		s.Configure(t, "logout_by_get", "true")
		for _, forged := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Referer", "https://evil.example/"}, {"Origin", "https://evil.example"},
			{"Origin", "null"}, {"Sec-Fetch-Site", "none", "Sec-Purpose", "prefetch"},
		} {
			send(t, s, "GET", path, "", append(forged, "Cookie", sid)...).fails(t, 400, "CSRFTokenError")
		}
		head, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		head.Header.Set("Cookie", sid)
		if r, err := http.DefaultClient.Do(head); err != nil || r.StatusCode != 403 {
			t.Errorf("HEAD: %v, %v", r, err)
		}
		if who(t, s, sid) != jane {
			t.Fatal("somebody else has logged jane out")
		}
		for _, own := range [][]string{nil, {"Sec-Fetch-Site", "same-origin"}, {"Referer", s.URL + "/app"}} {
			sid := loggedIn(t, s, jane)
			if r := send(t, s, "GET", path, "", append(own, "Cookie", sid)...); r.StatusCode != 200 || who(t, s, sid) != "" {
				t.Errorf("%v: %d, still %s", own, r.StatusCode, who(t, s, sid))
			}
		}
	})
}

// TestMobileLogin: where the site wants it a user's number does as well as the address,
// and whoever types one that is nobody's learns nothing else than with a wrong password.
func TestMobileLogin(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		const jane, number = "jane@example.com", "+49 30 123456"
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"mobile_no": number}).OK(t)
		s.User(t, "max@example.com")
		s.Admin.Put("/api/resource/User/max@example.com", map[string]any{"mobile_no": number}).Fails(t, 417, "UniqueValidationError")
		login(t, s, number, right).fails(t, 401, "AuthenticationError")
		s.Configure(t, "allow_login_using_mobile_number", "true")
		if r := login(t, s, number, right); r.StatusCode != 200 || who(t, s, r.sid()) != jane {
			t.Errorf("by the number: %d %s", r.StatusCode, r.text)
		}
		wrong, nobody := login(t, s, number, "not that one"), login(t, s, "+49 30 999999", "not that one")
		if wrong.StatusCode != 401 || wrong.text != nobody.text || nobody.StatusCode != 401 {
			t.Errorf("%s and %s", wrong.text, nobody.text)
		}
		login(t, s, "", right).fails(t, 401, "AuthenticationError")
		s.Admin.Put("/api/resource/User/max@example.com", map[string]any{"username": number}) // whether it is taken or not
		if r := login(t, s, jane, right); r.StatusCode != 200 {
			t.Errorf("the address: %d", r.StatusCode)
		}
	})
}

// TestHeaderAlias: the CSRF token comes under the name that an old client knows, where the
// site says so.
func TestHeaderAlias(t *testing.T) {
	s := sitetest.New(t, "")
	s.User(t, "jane@example.com", "System Manager")
	setPassword(t, s, "jane@example.com", right)
	sid := loggedIn(t, s, "jane@example.com")
	token, err := s.Tenant.Auth.CSRFToken(t.Context(), send(t, s, "GET", "/login", "", "Cookie", sid).Request)
	if err != nil || token == "" {
		t.Fatal(err)
	}
	create := func(name, value string) reply {
		return send(t, s, "POST", "/api/resource/ToDo", `{"description": "x"}`, "Cookie", sid, "Content-Type", "application/json", name, value)
	}
	create("X-Frappe-CSRF-Token", token).fails(t, 400, "CSRFTokenError")
	s.Configure(t, "header_aliases", `{"X-Frappe-CSRF-Token": "X-Framework-CSRF-Token"}`)
	if r := create("X-Frappe-CSRF-Token", token); r.StatusCode != 200 {
		t.Errorf("by the other name: %d %s", r.StatusCode, r.text)
	}
	create("X-Frappe-CSRF-Token", "wrong").fails(t, 400, "CSRFTokenError")
}
