package oauth_test

import (
	"net/url"
	"strings"
	"testing"
)

const goodbye = "https://client.example/bye"

func endSession(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	return prefix + "end_session?" + q.Encode()
}

// in reports whether a browser is logged in.
func (b *browser) in() bool { return b.get("/app").status == 200 }

// TestLogoutByApplication: who has an ID token of the user is followed, anybody else has
// the user asked, and nobody is sent where the client has not registered.
func TestLogoutByApplication(t *testing.T) {
	each(t, map[string]any{"post_logout_redirect_uris": goodbye}, func(t *testing.T, w *world) {
		fresh := func() (*browser, string) {
			w.browser = w.login("Administrator", password)
			return w.browser, w.redeem(w.code()).ok().str("id_token")
		}
		b, token := fresh()
		q := b.get(endSession("id_token_hint", token, "post_logout_redirect_uri", goodbye, "state", "s 1")).redirected(goodbye)
		if q.Get("state") != "s 1" || b.in() {
			t.Errorf("logged out by the token: %v, still in: %v", q, b.in())
		}
		// Again: nobody is logged in, and the browser goes on all the same.
		b.get(endSession("id_token_hint", token, "post_logout_redirect_uri", goodbye, "state", "2")).redirected(goodbye)

		b, _ = fresh()
		page := b.get(endSession("client_id", w.id, "post_logout_redirect_uri", goodbye))
		form := page.consent()
		if !b.in() || !strings.Contains(page.text, "Test") {
			t.Error("logged out without being asked, or not told by whom")
		}
		if stay := b.decide(form, "stay"); stay.location != "/app" || !b.in() {
			t.Errorf("stayed: %s", stay.location)
		}
		if out := b.decide(form, "logout"); out.location != goodbye || b.in() {
			t.Errorf("logged out: %d %s", out.status, out.location)
		}

		// The token of somebody else is nobody's consent.
		_, token = fresh()
		w.Admin.Post("/api/resource/User", map[string]any{"email": "zoe@example.com", "first_name": "Zoe"}).OK(t)
		w.password("zoe@example.com")
		zoe := w.login("zoe@example.com", password)
		page = zoe.get(endSession("id_token_hint", token))
		page.consent()
		if !zoe.in() {
			t.Error("one user's token has logged another out")
		}
		form = page.consent()
		form.fields.Set("proof", strings.Repeat("0", 64))
		if got := zoe.decide(form, "logout"); got.status != 403 || !zoe.in() {
			t.Errorf("a forged answer: %d", got.status)
		}

		for _, wrong := range []string{
			endSession("client_id", w.id, "post_logout_redirect_uri", goodbye+"/"),
			endSession("client_id", w.id, "post_logout_redirect_uri", "https://evil.example/"),
			endSession("post_logout_redirect_uri", goodbye),
			endSession("client_id", "nobody", "post_logout_redirect_uri", goodbye),
			endSession("id_token_hint", "a.b.c", "post_logout_redirect_uri", goodbye),
			endSession("id_token_hint", token[:len(token)-3]+"AAA", "post_logout_redirect_uri", goodbye),
			endSession("id_token_hint", token, "client_id", "another", "post_logout_redirect_uri", goodbye),
			endSession("client_id", w.id, "state", "1", "state", "2"),
		} {
			if got := zoe.get(wrong); got.status != 400 || !zoe.in() {
				t.Errorf("%s: %d %s", wrong, got.status, got.location)
			}
		}
		posted := zoe.post(prefix+"end_session", url.Values{"client_id": {w.id}})
		if posted.status/100 != 3 || !strings.HasPrefix(posted.location, prefix+"end_session?") || !zoe.in() {
			t.Errorf("a POST of an application: %d %s", posted.status, posted.location)
		}
	})
}
