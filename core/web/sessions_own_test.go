package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// TestOwnSessions: a user sees where they are logged in and ends it, and nobody else's.
func TestOwnSessions(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"simultaneous_sessions": 9}).OK(t)
		call := func(sid, name string, args string) reply {
			return send(t, s, "POST", "/api/method/framework.session."+name, args, "Cookie", sid, "Content-Type", "application/json")
		}
		login(t, s, jane, "wrong")
		phone := loggedIn(t, s, jane, "User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1")
		c.advance(time.Hour)
		here, other, bob := loggedIn(t, s, jane), loggedIn(t, s, jane), loggedIn(t, s, "bob@example.com")

		list := call(here, "list", "{}")
		all, _ := list.body["message"].([]any)
		if list.StatusCode != 200 || len(all) != 3 {
			t.Fatalf("%d %s", list.StatusCode, list.text)
		}
		var current, first map[string]any
		for _, row := range all {
			row, _ := row.(map[string]any)
			if row["current"] == true {
				current = row
			}
			if strings.Contains(row["user_agent"].(string), "iPhone") {
				first = row
			}
			for _, sid := range []string{here, phone, other} {
				if strings.Contains(sid, row["name"].(string)) {
					t.Error("the list tells the id of a session")
				}
			}
		}
		if current == nil || first == nil || first["begun"].(float64)+3600 != current["begun"].(float64) || first["address"] != "127.0.0.1" {
			t.Fatalf("%v", all)
		}
		name := `{"name": "` + first["name"].(string) + `"}`
		call(bob, "end", name).fails(t, 404, "DoesNotExistError")
		call(bob, "end_others", "{}")
		if who(t, s, phone) != jane {
			t.Fatal("somebody else has ended it")
		}
		shown := send(t, s, "GET", "/app/sessions", "", "Cookie", here)
		for _, part := range []string{"Safari on an iPhone", "This session.", "Login: " + jane, "(refused)", "End all others"} {
			if !strings.Contains(shown.text, part) {
				t.Errorf("the page does not say %q: %s", part, shown.text)
			}
		}
		if strings.Contains(shown.text, "bob@example.com") {
			t.Error("the page tells of others")
		}
		form := func(sid string, form url.Values) reply {
			form.Set("csrf_token", found(t, csrfField, shown.text))
			return send(t, s, "POST", "/app/sessions", form.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
		}
		send(t, s, "GET", "/app/sessions", "", "Cookie", other) // it has a token of its own from now on
		if r := form(other, url.Values{"do": {"end"}, "name": {first["name"].(string)}}); r.StatusCode != 400 || who(t, s, phone) != jane {
			t.Errorf("the token of another session: %d", r.StatusCode)
		}
		if r := form(here, url.Values{"do": {"end"}, "name": {first["name"].(string)}}); r.StatusCode != 303 || who(t, s, phone) != "" || who(t, s, other) != jane {
			t.Errorf("one: %d %s", r.StatusCode, r.text)
		}
		if r := form(here, url.Values{"do": {"others"}}); r.StatusCode != 303 || who(t, s, other) != "" || who(t, s, here) != jane || who(t, s, bob) == "" {
			t.Errorf("the others: %d %s", r.StatusCode, r.text)
		}
		for _, method := range []string{"list", "end", "end_others", "activity"} {
			send(t, s, "POST", "/api/method/framework.session."+method, "{}", "Authorization", s.As(t, jane).Authorization, "Content-Type", "application/json").fails(t, 403, "PermissionError")
			send(t, s, "POST", "/api/method/framework.session."+method, "{}", "Content-Type", "application/json").fails(t, 403, "PermissionError")
		}
		if r := call(bob, "activity", "{}"); r.StatusCode != 200 || strings.Contains(r.text, jane) || !strings.Contains(r.text, "Login: bob@example.com") {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
	})
}
