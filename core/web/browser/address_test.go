package browser

import (
	"strings"
	"testing"
)

// TestChangeOfAddress: the pages on which a user gets another address are usable by
// everybody, in every look.
func TestChangeOfAddress(t *testing.T) {
	s := serve(t)
	box := s.mailed()
	s.configure("password_reset_limit", "100")
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := strings.ReplaceAll(l.name, " ", "") + "@example.com"
			email := "new-" + user
			s.user(user, "Jane", "Doe", "System Manager")
			b := newTab(t, s, l)
			b.login(user)
			b.open("/app")
			b.click("a[href='/app/address']")
			b.shows("Letters go to " + user)
			b.inspect("address " + l.name)
			b.fill("#email", user)
			if r := b.click("button[value=ask]"); r.Status != 417 {
				t.Errorf("status %d", r.Status)
			}
			b.inspect("address refused " + l.name)
			b.fill("#email", email)
			b.click("button[value=ask]")
			b.shows("Letters are on their way")
			const link = `(http://\S+/update-address\?key=\S+)`
			old, now := box.find(user, link), box.find(email, link)
			b.open("/app/address")
			b.shows("neither has agreed yet")
			b.inspect("address asked " + l.name)
			other := newTab(t, s, l)
			other.open(now)
			other.shows("Somebody who has an account here")
			other.inspect("address agree new " + l.name)
			other.click("button[value=agree]")
			other.shows("when the other one has agreed")
			other.inspect("address agreed " + l.name)
			other.open(old)
			other.shows(user + " asks to have letters sent to " + email)
			other.inspect("address agree old " + l.name)
			other.click("button[value=agree]")
			other.shows(email + " is the address of the account now")
			if r := other.open(old); r.Status != 410 {
				t.Errorf("again: %d", r.Status)
			}
			other.inspect("address gone " + l.name)
			b.open("/app/address")
			b.shows("Letters go to " + email)
			if got := b.who(); got != user {
				t.Errorf("logged in as %s", got)
			}
		})
	}
}
