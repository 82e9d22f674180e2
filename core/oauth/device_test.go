package oauth_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// device asks as a device does.
func (w *world) device(pairs ...string) *answer {
	w.t.Helper()
	return w.form("device_authorization", append([]string{"client_id", w.id, "client_secret", w.secret}, pairs...)...)
}

func (w *world) poll(code string) *answer {
	w.t.Helper()
	return w.form("get_token", "grant_type", deviceGrant, "device_code", code, "client_id", w.id, "client_secret", w.secret)
}

// consents opens the page that the device names.
func (w *world) consents(b *browser, a *answer) consent {
	w.t.Helper()
	u, err := url.Parse(a.str("verification_uri_complete"))
	if err != nil {
		w.t.Fatal(err)
	}
	short := b.get(u.RequestURI())
	page := b.get(short.location)
	if !strings.Contains(page.text, a.str("user_code")) {
		w.t.Errorf("the page does not show the code %s", a.str("user_code"))
	}
	return page.consent()
}

// TestDevice: a device without a browser gets its user's tokens, once.
func TestDevice(t *testing.T) {
	clock := newClock()
	each(t, map[string]any{"device_flow": 1}, func(t *testing.T, w *world) {
		a := w.device("scope", "openid all").ok()
		if a.json["expires_in"] != 600.0 || a.json["interval"] != 5.0 || a.str("verification_uri") != w.URL+"/device" || len(a.str("user_code")) != 9 {
			t.Errorf("the answer to a device: %s", a.text)
		}
		code := a.str("device_code")
		w.poll(code).is(400, "authorization_pending")
		w.poll(code).is(400, "slow_down")
		clock.add(6)
		w.poll(code).is(400, "slow_down") // ten seconds now
		clock.add(16)
		w.poll(code).is(400, "authorization_pending")

		if guest := w.guest().get(prefix + "device?user_code=" + a.str("user_code")); !strings.HasPrefix(guest.location, "/login?redirect-to=") {
			t.Errorf("nobody is logged in: %d %s", guest.status, guest.location)
		}
		form := w.consents(w.browser, a)
		if told := w.browser.decide(form, "allow"); told.status != 200 {
			t.Fatalf("allowed: %d %s", told.status, told.text)
		}
		if again := w.browser.decide(form, "allow"); again.status != 400 {
			t.Errorf("answered twice: %d", again.status)
		}
		// Of many requests at once one gets tokens.
		answers := make([]*answer, 4)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.poll(code) })
		}
		all.Wait()
		slices.SortFunc(answers, func(a, b *answer) int { return a.status - b.status })
		for _, a := range answers[1:] {
			a.is(400, "invalid_grant")
		}
		got := answers[0].ok()
		if !w.works(got.str("access_token")) || claims(t, got.str("id_token"), w.secret)["sub"] == "" {
			t.Errorf("tokens of a device: %s", got.text)
		}
		next := w.refresh(got.str("refresh_token")).ok()
		if !w.works(next.str("access_token")) || w.works(got.str("access_token")) {
			t.Error("a refreshed token of a device")
		}
		w.poll(code).is(400, "invalid_grant")
	}, clock.option)
}

// TestDeviceRefused: what a device may not, and what its user does not want.
func TestDeviceRefused(t *testing.T) {
	clock := newClock()
	each(t, map[string]any{"device_flow": 1, "scopes": "openid resource:ToDo:read"}, func(t *testing.T, w *world) {
		w.device("scope", "all").is(400, "invalid_scope")
		w.device("resource", "https://other.example").is(400, "invalid_target")
		w.form("device_authorization", "client_id", w.id, "client_secret", "wrong").is(400, "invalid_client")
		other := *w
		other.id, other.secret = w.client(nil)
		other.device().is(400, "unauthorized_client")
		other.poll("x").is(400, "unauthorized_client")
		other.id, other.secret = w.client(map[string]any{"device_flow": 1})
		w.poll("x").is(400, "invalid_grant")

		a := w.device().ok()
		other.poll(a.str("device_code")).is(400, "invalid_grant") // of another client
		if told := w.browser.decide(w.consents(w.browser, a), "deny"); told.status != 200 {
			t.Errorf("denied: %d", told.status)
		}
		w.poll(a.str("device_code")).is(400, "access_denied")

		a = w.device().ok()
		clock.add(601)
		w.poll(a.str("device_code")).is(400, "expired_token")
		late := w.browser.get(prefix + "device?user_code=" + a.str("user_code"))
		if late.status != 400 || !strings.Contains(late.text, "not known, or too old") {
			t.Errorf("a late code: %d", late.status)
		}

		// A page that was shown to somebody else, or for another device, allows nothing.
		a, b := w.device().ok(), w.device().ok()
		form, wrong := w.consents(w.browser, a), w.consents(w.browser, b)
		form.fields.Set("proof", wrong.fields.Get("proof"))
		if got := w.browser.decide(form, "allow"); got.status != 403 {
			t.Errorf("another page's proof: %d", got.status)
		}
		w.poll(a.str("device_code")).is(400, "authorization_pending")

		// What was allowed and not fetched ends with the user's access.
		w.Admin.Post("/api/resource/User", map[string]any{"email": "zoe@example.com", "first_name": "Zoe"}).OK(t)
		w.password("zoe@example.com")
		w.browser.decide(w.consents(w.login("zoe@example.com", password), b), "allow")
		w.Admin.Put("/api/resource/User/zoe@example.com", map[string]any{"enabled": 0}).OK(t)
		if got := w.poll(b.str("device_code")); got.status != 400 {
			t.Errorf("a disabled user's device: %d %s", got.status, got.text)
		}
	}, clock.option)
}

// TestDeviceCodesAreNotGuessed: who tries out codes is stopped.
func TestDeviceCodesAreNotGuessed(t *testing.T) {
	each(t, map[string]any{"device_flow": 1}, func(t *testing.T, w *world) {
		a := w.device().ok()
		status := 0
		for range 30 {
			if status = w.browser.get(prefix + "device?user_code=BBBB-BBBB").status; status != 400 {
				break
			}
		}
		if status == 400 {
			t.Fatal("30 codes were tried out")
		}
		if got := w.browser.get(prefix + "device?user_code=" + a.str("user_code")).status; got == 200 {
			t.Error("who has guessed goes on")
		}
	})
}
