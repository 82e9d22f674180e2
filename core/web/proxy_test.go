package web_test

import (
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// lastFrom is the address of the youngest record of an operation.
func lastFrom(t *testing.T, s *sitetest.Server, operation string) any {
	t.Helper()
	return s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"ip_address"}, "filters", [][]any{{"operation", "=", operation}},
		"order_by", "creation desc", "limit", "1").Column(t, "ip_address")[0]
}

// TestForwarded: a proxy's word counts, anybody else's does not, for what is
// recorded, counted and marked.
func TestForwarded(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		behind := s.Trusting(t)
		made := []string{"X-Forwarded-For", "9.9.9.9", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example", "X-Framework-Site-Name", "other"}
		for _, cookie := range login(t, s, jane, right, made...).Cookies() {
			if cookie.Secure {
				t.Errorf("%s is Secure on the word of a stranger", cookie.Name)
			}
		}
		if from := lastFrom(t, s, "Login"); from != "127.0.0.1" {
			t.Errorf("a stranger's login is recorded as from %v", from)
		}
		c.advance(time.Second) // so that there is a youngest record
		if r := login(t, behind, jane, right, "X-Forwarded-For", "1.1.1.1, 9.9.9.9", "X-Forwarded-Proto", "https"); r.StatusCode != 200 || !r.Cookies()[0].Secure {
			t.Errorf("%d %v", r.StatusCode, r.Cookies())
		}
		if from := lastFrom(t, s, "Login"); from != "9.9.9.9" {
			t.Errorf("a login by the proxy is recorded as from %v", from)
		}

		// Failures count under the client's address: changing what a stranger writes
		// is no way round, and two clients of one proxy do not count together.
		configure(t, s, "allow_consecutive_login_attempts", "3")
		for i := range 4 {
			login(t, s, "nobody"+string(rune('a'+i)), "wrong", "X-Forwarded-For", "9.9.9."+string(rune('1'+i))).fails(t, 401, "AuthenticationError")
		}
		login(t, s, jane, right, "X-Forwarded-For", "9.9.9.200").fails(t, 429, "RateLimitExceededError")
		for i := range 4 {
			login(t, behind, "somebody"+string(rune('a'+i)), "wrong", "X-Forwarded-For", "9.9.9.9").fails(t, 401, "AuthenticationError")
		}
		login(t, behind, jane, right, "X-Forwarded-For", "9.9.9.9").fails(t, 429, "RateLimitExceededError")
		if r := login(t, behind, jane, right, "X-Forwarded-For", "8.8.8.8"); r.StatusCode != 200 {
			t.Errorf("another client of the proxy: %d %s", r.StatusCode, r.text)
		}

		// The origin of a page is compared with the host that the client asked for.
		create := func(s *sitetest.Server, headers ...string) int {
			sid := loggedIn(t, behind, jane, "X-Forwarded-For", "8.8.8.8")
			return send(t, s, "POST", "/api/resource/ToDo", `{"description":"y"}`, append(headers, "Cookie", sid, "Content-Type", "application/json")...).StatusCode
		}
		if got := create(behind, "Origin", "https://shop.example", "X-Forwarded-Host", "shop.example"); got != 200 {
			t.Errorf("a page of the site behind the proxy: %d", got)
		}
		if got := create(behind, "Origin", "https://evil.example", "X-Forwarded-Host", "shop.example"); got != 400 {
			t.Errorf("a page of another site behind the proxy: %d", got)
		}
		if got := create(s, "Origin", "https://evil.example", "X-Forwarded-Host", "evil.example"); got != 400 {
			t.Errorf("a stranger's host: %d", got)
		}

		// The site header counts from the proxy alone.
		if r := send(t, behind, "GET", "/api/method/ping", "", "X-Framework-Site-Name", "other"); r.StatusCode != 404 {
			t.Errorf("another site: %d %s", r.StatusCode, r.text)
		}
		if r := send(t, behind, "GET", "/api/method/ping", "", "X-Framework-Site-Name", s.Tenant.Site.Name); r.StatusCode != 200 {
			t.Errorf("this site: %d %s", r.StatusCode, r.text)
		}
		if r := send(t, s, "GET", "/api/method/ping", "", "X-Framework-Site-Name", "other"); r.StatusCode != 200 {
			t.Errorf("a stranger's site: %d %s", r.StatusCode, r.text)
		}
	})
}
