package browser

import (
	"strings"
	"testing"
)

// TestNewcomers: the pages by which people come to a site are usable by everybody, in
// every look.
func TestNewcomers(t *testing.T) {
	s := serve(t)
	s.configure("sign_up", "true")
	for _, provider := range []string{"Google", "GitHub"} {
		s.api("POST", "/api/resource/Social%20Login%20Key", map[string]any{"provider_name": provider, "social_login_provider": provider, "client_id": "x", "client_secret": "y"})
	}
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := strings.ReplaceAll(l.name, " ", "") + "@example.com"
			s.user(user, "Jane", "Doe", "System Manager")
			b := newTab(t, s, l)
			b.open(s.origin + "/login")
			b.inspect("login with providers " + l.name)
			b.open(s.origin + "/signup")
			b.inspect("sign up " + l.name)
			b.login(user)
			b.open(s.origin + "/app/accounts")
			b.inspect("accounts " + l.name)
		})
	}
}
