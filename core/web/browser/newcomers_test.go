package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestNewcomers: the pages by which people come to a site are usable by everybody, in
// every look.
func TestNewcomers(t *testing.T) {
	s := serve(t)
	box := s.mailed()
	s.configure("sign_up", "true")
	s.configure("login_with_code", "true")
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
			newcomer := "new-" + user
			b.fill("#email", newcomer)
			b.click("button")
			b.shows("A letter is on its way")
			b.inspect("sign up asked " + l.name)
			b.open(box.find(newcomer, `(http://\S+/signup/finish\?key=\S+)`))
			b.shows("It is for " + newcomer)
			b.inspect("sign up finish " + l.name)
			b.fill("#first", "Ann")
			b.fill("#new", "password1")
			b.fill("#again", "password1")
			if r := b.click("button"); r.Status != 417 {
				t.Errorf("status %d", r.Status)
			}
			b.inspect("sign up refused " + l.name)
			b.fill("#new", password)
			b.fill("#again", password)
			b.click("button")
			if at := b.at(); at != "/login?signed-up=1" {
				t.Fatalf("at %s", at)
			}
			b.inspect("signed up " + l.name)

			b.open("/login?redirect-to=%2Fapp%2Fsessions")
			b.click("a[href^='/login/mail']")
			b.inspect("code by mail " + l.name)
			b.press(newcomer)
			b.loads(chromedp.KeyEvent(kb.Enter))
			b.shows("six digits")
			code := box.find(newcomer, `\n    ([0-9]{6})\r?\n`)
			b.inspect("code by mail asked " + l.name)
			b.press("1")
			if r := b.loads(chromedp.KeyEvent(kb.Enter)); r.Status != 401 {
				t.Errorf("status %d", r.Status)
			}
			b.shows("The code is wrong")
			b.inspect("code by mail wrong " + l.name)
			b.press(code)
			b.loads(chromedp.KeyEvent(kb.Enter))
			if at, who := b.at(), b.who(); at != "/app/sessions" || who != newcomer {
				t.Fatalf("at %s as %s", at, who)
			}
			b.open("/login/mail?redirect-to=%2Fapp")
			b.press(newcomer)
			b.loads(chromedp.KeyEvent(kb.Enter))
			link := box.find(newcomer, `(http://\S+/login/mail/code\?key=\S+)`)
			other := newTab(t, s, l)
			if r := other.open(link); r.Status != 410 {
				t.Errorf("in another browser: %d", r.Status)
			}
			other.shows("does not work here")
			other.inspect("code by mail elsewhere " + l.name)
			b.open(link)
			b.inspect("code by mail link " + l.name)
			b.click("button")
			if at, who := b.at(), b.who(); at != "/app" || who != newcomer {
				t.Fatalf("by the link: at %s as %s", at, who)
			}
			b.click("button") // log out
			b.login(user)
			b.open(s.origin + "/app/accounts")
			b.inspect("accounts " + l.name)
		})
	}
}
