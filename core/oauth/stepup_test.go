package oauth_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

const twoFactors = "urn:armature:acr:two-factors"

// TestStepUp: a client gets a login with two factors by acr_values, and its ID token
// says how the user logged in.
func TestStepUp(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		methods := func(code string) ([]any, any) {
			t.Helper()
			id := claims(t, w.redeem(code).ok().str("id_token"), w.secret)
			amr, _ := id["amr"].([]any)
			return amr, id["acr"]
		}
		if amr, acr := methods(w.code()); !slices.Equal(amr, []any{"pwd"}) || acr != "urn:armature:acr:one-factor" {
			t.Errorf("by password: %v, %v", amr, acr)
		}
		if q := w.browser.get(w.query("acr_values", "0 urn:elsewhere")).redirected(callback); q.Get("code") == "" {
			t.Errorf("a class that is not known here: %v", q)
		}
		asks := w.query("acr_values", twoFactors)
		if q := w.browser.get(w.query("acr_values", twoFactors, "prompt", "none")).redirected(callback); q.Get("error") != "login_required" {
			t.Errorf("without a word: %v", q)
		}
		// back is where the login page leads to, which is told to ask for the factor.
		back := func(b *browser) string {
			t.Helper()
			a := b.get(asks)
			to, err := url.Parse(a.location)
			if err != nil || to.Path != "/login" || to.Query().Get("second-factor") != "1" {
				t.Fatalf("%d to %q", a.status, a.location)
			}
			return to.Query().Get("redirect-to")
		}
		// Who has no factor logs in again, and that is the end of it.
		if q := w.login("Administrator", password).get(back(w.browser)).redirected(callback); q.Get("error") != "unmet_authentication_requirements" {
			t.Errorf("without a factor: %v", q)
		}

		call := func(b *browser, name string, form url.Values) map[string]any {
			t.Helper()
			r := b.post("/api/method/framework.second_factor."+name, form)
			message, ok := r.json["message"].(map[string]any)
			if r.status != http.StatusOK || !ok {
				t.Fatalf("%s: %d %s", name, r.status, r.text)
			}
			return message
		}
		begun := call(w.browser, "begin", nil)
		secret, _ := begun["secret"].(string)
		token, _ := begun["enrolment"].(string)
		code := func() string {
			t.Helper()
			clock.add(30)
			text, err := totp.GenerateCode(secret, time.Unix(clock.seconds.Load(), 0))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		call(w.browser, "confirm", url.Values{"enrolment": {token}, "code": {code()}})
		b := w.guest()
		if r := b.post("/login", url.Values{"usr": {"Administrator"}, "pwd": {password}}); r.location != "/login/code" {
			t.Fatalf("%d to %q", r.status, r.location)
		}
		if r := b.post("/login/code", url.Values{"code": {code()}, "remember": {"1"}}); r.location != "/app" {
			t.Fatalf("%d to %q", r.status, r.location)
		}
		redeemed := w.redeem(b.get(asks).redirected(callback).Get("code")).ok()
		id := claims(t, redeemed.str("id_token"), w.secret)
		if amr, _ := id["amr"].([]any); !slices.Equal(amr, []any{"pwd", "otp", "mfa"}) || id["acr"] != twoFactors {
			t.Errorf("with a code: %v", id)
		}
		// The browser is remembered: its next login has shown one thing, and steps up.
		if r := b.post("/login", url.Values{"usr": {"Administrator"}, "pwd": {password}}); r.location != "/app" {
			t.Fatalf("%d to %q", r.status, r.location)
		}
		if amr, acr := methods(b.get(w.query()).redirected(callback).Get("code")); !slices.Equal(amr, []any{"pwd"}) || acr == twoFactors {
			t.Errorf("a browser that is remembered: %v, %v", amr, acr)
		}
		to := back(b)
		r := b.post("/login", url.Values{"usr": {"Administrator"}, "pwd": {password}, "second-factor": {"1"}, "redirect-to": {to}})
		if !strings.HasPrefix(r.location, "/login/code?") {
			t.Fatalf("%d to %q", r.status, r.location)
		}
		r = b.post("/login/code", url.Values{"code": {code()}, "redirect-to": {to}})
		if q := b.get(r.location).redirected(callback); q.Get("code") == "" {
			t.Errorf("after the step up: %v", q)
		}
	}, clock.option)
}
