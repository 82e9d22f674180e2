package oauth_test

import "testing"

// TestClaimsOfAnotherAddress: applications are told the address that the user has now, and
// that nobody has verified it.
func TestClaimsOfAnotherAddress(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		before := claims(t, w.redeem(w.code()).ok().str("id_token"), w.secret)
		w.Admin.Post("/api/method/framework.user.set_address", map[string]any{"user": "Administrator", "email": "root@new.example"}).OK(t)
		after := claims(t, w.redeem(w.code()).ok().str("id_token"), w.secret)
		if after["email"] != "root@new.example" || after["email_verified"] != false || after["sub"] != before["sub"] {
			t.Errorf("%v, and before %v", after, before)
		}
	})
}
