package browser

import "testing"

// TestKeys: a key is made and ended by hand.
func TestKeys(t *testing.T) {
	s := serve(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := "kate" + string(l.name[0]) + "@example.com"
			s.user(user, "Kate", "Doe", "System Manager")
			b := newTab(t, s, l)
			b.login(user)
			b.click("a[href='/app/keys']")
			b.shows("Keys for programs")
			b.inspect("keys " + l.name)
			b.fill("#title", "Nightly export")
			b.fill("#scopes", "resource:ToDo:read")
			b.click("form button[type=submit]")
			b.shows("This is shown once.")
			b.inspect("key made " + l.name)
			b.click("a[href='/app/keys']")
			b.shows("Nightly export", "Not used yet.")
			b.inspect("keys there " + l.name)
			b.click("button[aria-label='End the key Nightly export']")
			b.shows("The key has ended.")
			b.forget()
		})
	}
}
