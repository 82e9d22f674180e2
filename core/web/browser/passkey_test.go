package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// authenticator gives the tab a device that makes and shows passkeys as soon as it is
// asked, as somebody with a finger on it does.
func (b *tab) authenticator(more func(*webauthn.VirtualAuthenticatorOptions)) webauthn.AuthenticatorID {
	b.t.Helper()
	b.do(call(webauthn.Enable, webauthn.EnableParams{}))
	options := &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}
	if more != nil {
		more(options)
	}
	made := run(b, func(ctx context.Context, target *chromedp.Target) (webauthn.AddVirtualAuthenticatorResult, error) {
		return cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: options})
	})
	return made.AuthenticatorID
}

// removeAuthenticator takes the device away.
func (b *tab) removeAuthenticator(id webauthn.AuthenticatorID) {
	b.t.Helper()
	b.do(call(webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: id}))
}

// answers has the device react to touches, or leave the browser waiting.
func (b *tab) answers(id webauthn.AuthenticatorID, on bool) {
	b.t.Helper()
	b.do(call(webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: id, Enabled: on}))
}

// served runs a server that is looked at by the name of this device: an address has no
// passkeys.
func servedByName(t *testing.T) *server {
	t.Helper()
	s := serve(t)
	s.origin = strings.Replace(s.origin, "127.0.0.1", "localhost", 1)
	return s
}

// waits waits for something to be so on whatever page comes.
func (b *tab) waits(expression string) {
	b.t.Helper()
	for ctx := b.ctx; ; {
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && is {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s is never so", expression)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestPasskey(t *testing.T) {
	s := servedByName(t)
	for _, l := range looks[:2] { // browsers ask for passkeys by a script
		t.Run(l.name, func(t *testing.T) {
			user := l.name + "@example.com"
			s.user(user, "Jane", "Doe", "System Manager")
			b := newTab(t, s, l)
			device := b.authenticator(nil)
			b.login(user)
			b.click("a[href='/app/passkeys']")
			b.inspect("passkeys none " + l.name)
			b.fill("#title", "Laptop")
			b.click("#with-passkey button")
			b.shows("Your recovery codes")
			b.click("main a")
			b.shows("Laptop", "Not used yet.")
			b.inspect("passkeys one " + l.name)
			// The device has one already, and says so.
			b.fill("#title", "Again")
			b.do(b.mouse("#with-passkey button"))
			b.waits(`!document.querySelector("#passkey-failed").hidden`)
			b.shows("This device has one of your passkeys already.")
			b.inspect("passkeys again " + l.name)

			// Nobody touches the device: the page waits for the password as ever, and
			// offers the passkey.
			b.answers(device, false)
			b.open("/app")
			b.click("form[action='/logout'] button")
			b.inspect("login passkey " + l.name)
			// Autofill alone: the field of the user's name offers it, without a click.
			b.answers(device, true)
			b.do(chromedp.Evaluate[chromedp.Void]("setTimeout(() => location.reload())"))
			b.waits(`location.pathname === "/app"`)
			if at, who := b.at(), b.who(); at != "/app" || who != user {
				t.Fatalf("%q at %s", who, at)
			}
			b.removeAuthenticator(device)
			b.click("form[action='/logout'] button")
			// By the button, with a device that does not know the passkey.
			stranger := b.authenticator(nil)
			b.do(b.mouse("#with-passkey button"))
			b.waits(`!document.querySelector("#passkey-failed").hidden`)
			b.shows("No passkey was chosen.")
			b.inspect("login passkey none " + l.name)
			b.fill("#usr", user)
			b.fill("#pwd", password)
			b.click("button")
			b.shows("Show your second factor", "or type in one of your recovery codes")
			b.inspect("code passkey " + l.name)
			b.removeAuthenticator(stranger)
		})
	}
}

// TestPasskeyBesidePassword: a key that stays on its device and knows no PIN.
func TestPasskeyBesidePassword(t *testing.T) {
	s := servedByName(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.command("", "site", "config", "default", "set", "require_second_factor", "true")
	b := newTab(t, s, looks[1])
	b.authenticator(func(o *webauthn.VirtualAuthenticatorOptions) {
		o.Transport, o.HasResidentKey, o.HasUserVerification, o.IsUserVerified = webauthn.AuthenticatorTransportUsb, false, false, false
	})
	enter := func() {
		b.fill("#usr", "jane@example.com")
		b.fill("#pwd", password)
		b.click("button")
	}
	b.open("/login")
	enter()
	b.shows("Set up a second factor", "Make a passkey on this device instead")
	b.inspect("demanded passkey")
	b.click("#with-passkey button")
	b.shows("Your recovery codes")
	b.click("main a")
	b.open("/app/passkeys")
	b.shows("It does beside the password only.")
	b.open("/app")
	b.click("form[action='/logout'] button")
	enter()
	b.shows("Show your second factor")
	b.click("#with-passkey button")
	if at, who := b.at(), b.who(); at != "/app" || who != "jane@example.com" {
		t.Errorf("%q at %s", who, at)
	}
}
