package web_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestSubject: every user has a name for OpenID clients that nobody can choose,
// take away or share.
func TestSubject(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		subject := func(user string) string {
			t.Helper()
			got, err := s.Tenant.Auth.Subject(t.Context(), user)
			if err != nil || len(got) != 40 {
				t.Fatalf("%s: %q, %v", user, got, err)
			}
			return got
		}
		const path = "/api/resource/User/" + jane
		doc := s.Admin.Get(path).Data(t)
		row := doc["social_logins"].([]any)[0].(map[string]any)
		if row["provider"] != "framework" || row["userid"] != subject(jane) || row["parent"] != jane || row["idx"] != 1.0 {
			t.Errorf("row %v", row)
		}
		first := subject(jane)
		type logins []map[string]any
		put := func(rows logins) *sitetest.Reply { return s.Admin.Put(path, map[string]any{"social_logins": rows}) }
		put(logins{{"provider": "framework", "userid": "chosen"}}).Fails(t, 417, "ValidationError")
		put(logins{{"provider": "framework", "userid": first}, {"provider": "framework", "userid": first}}).Fails(t, 417, "ValidationError")
		s.Admin.Post("/api/resource/User", map[string]any{"email": "eve@example.com", "first_name": "Eve",
			"social_logins": logins{{"provider": "framework", "userid": first}}}).Fails(t, 417, "ValidationError")
		// Nor is there one that is empty, which would be made anew each time.
		s.Admin.Post("/api/resource/User", map[string]any{"email": "empty@example.com", "first_name": "E",
			"social_logins": logins{{"provider": "framework"}}}).Fails(t, 417, "ValidationError")
		put(logins{}).OK(t)
		put(logins{{"provider": "elsewhere", "userid": "77"}}).OK(t)
		if rows := s.Admin.Get(path).Data(t)["social_logins"].([]any); len(rows) != 2 {
			t.Errorf("rows %v", rows)
		}
		if got := subject(jane); got != first {
			t.Errorf("the subject became %s", got)
		}
		if a, b := subject("Administrator"), subject("Administrator"); a != b || a == first {
			t.Errorf("Administrator is %s and %s", a, b)
		}
		if _, err := s.Tenant.Auth.Subject(t.Context(), "Guest"); err == nil {
			t.Error("Guest has a subject")
		}
		if _, err := s.Tenant.Auth.Subject(t.Context(), "nobody@example.com"); err == nil {
			t.Error("nobody has a subject")
		}
	})
}
