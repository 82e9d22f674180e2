package web_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestAdministratorsCredentials: who manages the site's users gets at no
// credentials of the one who passes every check, by no way.
func TestAdministratorsCredentials(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		manager := s.As(t, jane)
		const generate = "/api/method/framework.core.doctype.user.user.generate_keys"
		manager.Post(generate, map[string]any{"user": "Administrator"}).Fails(t, 403, "PermissionError")
		for _, change := range []map[string]any{
			{"new_password": "another good one"}, {"email": "jane@evil.example"}, {"username": "jane"}, {"bio": "x"},
		} {
			manager.Put("/api/resource/User/Administrator", change).Fails(t, 403, "PermissionError")
		}
		if r := login(t, s, "Administrator", "another good one"); r.StatusCode != 401 {
			t.Errorf("a login with the password a manager chose: %d", r.StatusCode)
		}
		manager.Post(generate, map[string]any{"user": jane}).OK(t)
		s.Admin.Post(generate, map[string]any{"user": "Administrator"}).OK(t)
	})
}
