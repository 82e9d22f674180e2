package sites_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestUserNames: no two users look alike, and another address is refused, not
// ignored.
func TestUserNames(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const users = "/api/resource/User"
		make := func(email string) *sitetest.Reply {
			return s.Admin.Post(users, map[string]any{"email": email, "first_name": "Jane"})
		}
		make("jane@example.com").OK(t)
		make("ｊａｎｅ＠Example.com").Fails(t, 409, "DuplicateEntryError")
		for _, email := range []string{"j\u0430ne@example.com", "jane\u200b@example.com", "Jane <jane2@example.com>"} {
			make(email).Fails(t, 417, "InvalidEmailAddressError")
		}
		at := users + "/jane@example.com"
		s.Admin.Put(at, map[string]any{"email": "other@example.com"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Put(at, map[string]any{"email": " JANE@example.com", "bio": "x"}).OK(t)
		s.As(t, "jane@example.com").Put(at, map[string]any{"email": "other@example.com"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Put(at, map[string]any{"username": "j\u0430ne"}).Fails(t, 417, "InvalidNameError")
		s.Admin.Put(at, map[string]any{"username": "Jane D"}).OK(t)
		s.Admin.Put(users+"/Administrator", map[string]any{"email": "jane3@example.com"}).Fails(t, 417, "CannotChangeConstantError")
	})
}
