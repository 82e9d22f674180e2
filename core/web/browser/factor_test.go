package browser

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	bigendian "encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// appCode is what an authenticator app shows so many half minutes from now (RFC 4226
// section 5.3 and RFC 6238 section 4).
func appCode(t *testing.T, secret string, later int64) string {
	t.Helper()
	key, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = bigendian.Write(mac, bigendian.BigEndian, time.Now().Unix()/30+later)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", (bigendian.BigEndian.Uint32(sum[at:])&0x7fffffff)%1_000_000)
}

// text of the first element a selector finds.
func (b *tab) textOf(selector string) string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).innerText", selector)))
}

func TestSecondFactor(t *testing.T) {
	s := serve(t)
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			user := strings.ReplaceAll(l.name, " ", "") + "@example.com"
			s.user(user, "Jane", "Doe", "System Manager")
			b := newTab(t, s, l)
			b.login(user)
			b.click("a[href='/app/second-factor']")
			b.inspect("factor none " + l.name)
			b.click("button[value=begin]")
			b.inspect("factor set up " + l.name)
			if f := b.focused(); f != "code" {
				t.Errorf("the focus is on %q", f)
			}
			secret := b.textOf("#key")
			b.press("000000")
			if r := b.loads(chromedp.KeyEvent(kb.Enter)); r.Status != 417 {
				t.Errorf("status %d", r.Status)
			}
			b.inspect("factor wrong " + l.name)
			if again := b.textOf("#key"); again != secret {
				t.Error("after a slip of the finger the app has to be set up again")
			}
			b.fill("#code", appCode(t, secret, 0))
			b.loads(chromedp.KeyEvent(kb.Enter))
			b.shows("Your recovery codes")
			b.inspect("factor codes " + l.name)
			recovery := b.textOf(".codes li")
			b.click("main a")
			b.shows("You have 10 recovery codes left.")
			b.inspect("factor there " + l.name)
			b.open("/app")
			b.click("form[action='/logout'] button")

			b.fill("#usr", user)
			b.fill("#pwd", password)
			b.click("button")
			b.shows("Enter the code")
			b.inspect("code " + l.name)
			b.press("123")
			if r := b.loads(chromedp.KeyEvent(kb.Enter)); r.Status != 401 {
				t.Errorf("status %d", r.Status)
			}
			b.inspect("code wrong " + l.name)
			b.fill("#code", appCode(t, secret, 1))
			b.do(b.mouse("label.tick"))
			b.click("button")
			if at, who := b.at(), b.who(); at != "/app" || who != user {
				t.Fatalf("%q at %s", who, at)
			}
			b.click("form[action='/logout'] button")
			b.fill("#usr", user)
			b.fill("#pwd", password)
			b.click("button")
			if at := b.at(); at != "/app" {
				t.Fatalf("a browser that is remembered is at %s", at)
			}
			b.open("/app/second-factor")
			b.shows("1 browser is not asked for a code.")
			b.click("button[value=forget]")
			b.shows("Every browser is asked for a code again.")
			b.fill("#code", recovery)
			b.click("button[value=remove]")
			b.shows("The app is removed.")
			b.inspect("factor removed " + l.name)
		})
	}
}

// TestDemandedSecondFactor: who needs a factor and has none sets one up on the way in.
func TestDemandedSecondFactor(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe")
	s.command("", "site", "config", "default", "set", "require_second_factor", "true")
	b := newTab(t, s, looks[1])
	b.open("/login?redirect-to=%2Fapp%2Fpassword")
	b.fill("#usr", "jane@example.com")
	b.fill("#pwd", password)
	b.click("button")
	b.shows("Set up a second factor")
	b.inspect("demanded factor")
	b.fill("#code", appCode(t, b.textOf("#key"), 0))
	b.loads(chromedp.KeyEvent(kb.Enter))
	b.shows("Your recovery codes")
	b.click("main a")
	if at := b.at(); at != "/app/password" {
		t.Errorf("at %s", at)
	}
}
