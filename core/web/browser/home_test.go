package browser

import "testing"

func TestHome(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane <b>", "Doe & a very long name that has to go on the next line of a phone", "System Manager")
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			b.open("/app?x=1")
			if at := b.at(); at != "/login?redirect-to=%2Fapp%3Fx%3D1" {
				t.Fatalf("a guest is led to %s", at)
			}
			b.login("jane@example.com")
			b.shows("Jane <b> Doe & a very long name", "jane@example.com")
			b.inspect("home " + l.name)
			if r := b.click("a[href='/api/docs']"); r.Status != 200 {
				t.Errorf("status %d", r.Status)
			}
			b.open("/")
			b.click("button")
			b.shows("You are logged out.")
			b.inspect("logged out " + l.name)
			if who := b.who(); who != "" && who != "Guest" {
				t.Errorf("still %s", who)
			}
			if b.open("/app"); b.at() != "/login?redirect-to=%2Fapp" {
				t.Errorf("at %s", b.at())
			}
		})
	}
}

func TestErrorPage(t *testing.T) {
	b := newTab(t, serve(t), looks[1])
	if r := b.open("/no/such/page"); r.Status != 404 {
		t.Errorf("status %d", r.Status)
	}
	b.shows("There is no such page")
	b.inspect("error")
}
