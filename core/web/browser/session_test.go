package browser

import "testing"

func TestSessions(t *testing.T) {
	s := serve(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := "jane" + string(l.name[0]) + "@example.com"
			s.user(user, "Jane", "Doe", "System Manager")
			other, b := newTab(t, s, l), newTab(t, s, l)
			other.login(user)
			b.login(user)
			b.click("a[href='/app/sessions']")
			b.shows("This session.", "What has happened", "Login: "+user)
			b.inspect("sessions " + l.name)
			b.click("button[aria-label^='End the session']")
			b.shows("The session has ended.")
			if other.who() != "" || b.who() != user {
				t.Errorf("%q, %q", other.who(), b.who())
			}
			b.inspect("sessions ended " + l.name)
		})
	}
}
