package oauth_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites"
)

// clock is the sites' clock; it stands still but for what a test adds.
type clock struct{ seconds atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.seconds.Store(time.Now().Unix())
	return c
}

func (c *clock) add(seconds int64) { c.seconds.Add(seconds) }

func (c *clock) option(h *sites.Config) {
	h.Clock = func() time.Time { return time.Unix(c.seconds.Load(), 0) }
}

func (w *world) settings(values map[string]any) {
	w.t.Helper()
	w.Admin.On(w.t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", values).OK(w.t)
}

// password gives a user the password.
func (w *world) password(user string) {
	w.t.Helper()
	hash, err := auth.HashPassword(password)
	if err == nil {
		err = w.Tenant.Store.Write(w.t.Context(), document.GroupedTx, func(tx document.Tx) error {
			return w.Tenant.Auth.SetPassword(w.t.Context(), tx, identity.Root(), user, hash)
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// basic sends a client's credentials in the header.
func (w *world) basic(endpoint, id, secret string, pairs ...string) *answer {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return w.send(endpoint, form, func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) })
}

// TestClientAuthentication: by header or form, not both; a wrong secret of the
// header is 401, of the form 400 (RFC 6749 sections 2.3.1 and 5.2).
func TestClientAuthentication(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		with := func(pairs ...string) []string {
			return append([]string{"grant_type", "authorization_code", "code", w.code(), "redirect_uri", callback}, pairs...)
		}
		w.basic("get_token", w.id, w.secret, with()...).ok()
		w.basic("get_token", w.id, w.secret, with("client_id", w.id)...).ok()
		w.form("get_token", with("client_id", w.id, "client_secret", w.secret)...).ok()

		wrong := w.basic("get_token", w.id, "wrong", with()...).is(401, "invalid_client")
		if !strings.HasPrefix(wrong.header.Get("Www-Authenticate"), "Basic ") {
			t.Errorf("challenge %q", wrong.header.Get("Www-Authenticate"))
		}
		w.basic("get_token", "nobody", w.secret, with()...).is(401, "invalid_client")
		w.form("get_token", with("client_id", w.id, "client_secret", "wrong")...).is(400, "invalid_client")
		w.form("get_token", with("client_id", "nobody", "client_secret", w.secret)...).is(400, "invalid_client")
		w.form("get_token", with("client_id", w.id)...).is(400, "invalid_client")
		w.form("get_token", with()...).is(400, "invalid_client")
		w.basic("get_token", w.id, w.secret, with("client_secret", w.secret)...).is(400, "invalid_request")
		w.basic("get_token", w.id, w.secret, with("client_id", "another")...).is(400, "invalid_request")
		for _, header := range []string{"Basic !", "Basic " + "bm9jb2xvbg==", "Bearer x", "token a:b"} {
			w.send("get_token", url.Values{"grant_type": {"authorization_code"}, "code": {"x"}, "client_id": {w.id}, "client_secret": {w.secret}},
				func(r *http.Request) { r.Header.Set("Authorization", header) }).is(401, "invalid_client")
		}

		other, secret := w.client(nil)
		stolen := w.code()
		w.form("get_token", "grant_type", "authorization_code", "code", stolen, "redirect_uri", callback,
			"client_id", other, "client_secret", secret).is(400, "invalid_grant")
		w.redeem(stolen).ok() // the attempt has not spent it
		_, refresh := w.tokens()
		w.form("get_token", "grant_type", "refresh_token", "refresh_token", refresh, "client_id", other, "client_secret", secret).is(400, "invalid_grant")
	})
}

// TestProofInPlaceOfASecret: a public client needs PKCE and no secret; PKCE stands in
// for nobody else's, at the code or at a refresh.
func TestProofInPlaceOfASecret(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		public, publicSecret := w.client(map[string]any{"token_endpoint_auth_method": "None"})
		strict, _ := w.client(map[string]any{"token_endpoint_auth_method": "Client Secret Basic"})
		proof := []string{"code_challenge", s256, "code_challenge_method", "S256"}
		code := func(id string) string { return w.code(append(proof, "client_id", id)...) }
		redeem := func(id, code string, pairs ...string) *answer {
			return w.form("get_token", append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", id}, pairs...)...)
		}
		a := redeem(public, code(public), "code_verifier", verifier).ok()
		w.form("get_token", "grant_type", "refresh_token", "refresh_token", a.str("refresh_token"), "client_id", public).ok()
		redeem(public, code(public)).is(400, "invalid_grant")
		redeem(w.id, code(w.id), "code_verifier", verifier).is(400, "invalid_client")
		redeem(w.id, code(w.id), "code_verifier", verifier, "client_secret", w.secret).ok()
		redeem(strict, code(strict), "code_verifier", verifier).is(400, "invalid_client")
		redeem(public, code(public), "code_verifier", verifier, "client_secret", publicSecret).ok()
		redeem(public, code(public), "code_verifier", verifier, "client_secret", "wrong").is(400, "invalid_client")
		// Who has shown the secret at the code shows it at the refresh.
		_, refresh := w.tokens()
		w.form("get_token", "grant_type", "refresh_token", "refresh_token", refresh, "client_id", w.id).is(400, "invalid_client")
		w.refresh(refresh).ok()
	})
}

// TestProofKeys: S256 and plain, and no way round them (RFC 7636; the downgrade is
// that of a code whose challenge is forgotten by a failed try).
func TestProofKeys(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for method, challenge := range map[string]string{"S256": s256, "plain": verifier, "": verifier} {
			code := w.code("code_challenge", challenge, "code_challenge_method", method)
			w.redeem(code).is(400, "invalid_grant")
			w.redeem(code, "code_verifier", "").is(400, "invalid_grant")
			w.redeem(code, "code_verifier", strings.Repeat("a", 43)).is(400, "invalid_grant")
			w.redeem(code, "code_verifier", s256+"x").is(400, "invalid_grant")
			w.redeem(code, "code_verifier", "short").is(400, "invalid_grant")
			w.redeem(code, "code_verifier", strings.Repeat("a", 129)).is(400, "invalid_grant")
			w.redeem(code).is(400, "invalid_grant") // still: no verifier, no tokens
			w.redeem(code, "code_verifier", verifier).ok()
		}
		// A challenge of the one method is none of the other.
		w.redeem(w.code("code_challenge", s256, "code_challenge_method", "plain"), "code_verifier", verifier).is(400, "invalid_grant")
		// A verifier for a code that had no challenge: somebody else's code.
		w.redeem(w.code(), "code_verifier", verifier).is(400, "invalid_grant")
	})
}

// TestTokenRequests is what the token endpoint takes for a request.
func TestTokenRequests(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.form("get_token").is(400, "unsupported_grant_type")
		for grant, code := range map[string]string{
			"password": "unsupported_grant_type", "implicit": "unsupported_grant_type", "client_credentials": "unauthorized_client",
			"urn:ietf:params:oauth:grant-type:jwt-bearer": "unsupported_grant_type", "authorization_code refresh_token": "unsupported_grant_type",
			"authorization_code": "invalid_request", "refresh_token": "invalid_request",
		} {
			w.form("get_token", "grant_type", grant, "username", "Administrator", "password", password, "client_id", w.id, "client_secret", w.secret).is(400, code)
		}
		for _, name := range []string{"grant_type", "code", "client_id", "redirect_uri", "client_secret"} {
			w.redeem(w.code(), name, "again").is(400, "invalid_request")
		}
		w.redeem("").is(400, "invalid_request")
		w.redeem("\x00").is(400, "invalid_request")
		w.redeem("\xff").is(400, "invalid_request")
		w.redeem(strings.Repeat("x", 1000)).is(400, "invalid_grant")
		if a := w.redeem(strings.Repeat("x", 100_000)); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a large body: %d", a.status)
		}
		get := w.guest().get(prefix + "get_token")
		get.is(400, "invalid_request")
		query := w.guest()
		r := query.request(http.MethodPost, prefix+"get_token?grant_type=authorization_code", []byte("code=x"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		query.do(r).is(400, "invalid_request")
		r = query.request(http.MethodPost, prefix+"get_token", []byte(`{"grant_type":"authorization_code"}`))
		r.Header.Set("Content-Type", "application/json")
		query.do(r).is(400, "invalid_request")
	})
}

// TestKindsOfTokens: what is handed out for one use is good for no other.
func TestKindsOfTokens(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		code := w.code()
		access, refresh := w.tokens()
		if w.works(refresh) || w.works(code) || !w.works(access) {
			t.Error("a refresh token or a code works as an access token")
		}
		for _, token := range []string{refresh, code} {
			w.bearer(token, "GET", prefix+"openid_profile", "").is(401, "invalid_token")
		}
		w.redeem(access).is(400, "invalid_grant")
		w.redeem(refresh).is(400, "invalid_grant")
		w.refresh(access).is(400, "invalid_grant")
		w.refresh(code).is(400, "invalid_grant")
		if a := w.form("introspect_token", "token", code).ok(); a.text != `{"active":false}` {
			t.Errorf("a code is active: %s", a.text)
		}
		w.redeem(code).ok()
		// The token comes in the header and nowhere else (RFC 6750 section 2).
		for _, path := range []string{"/api/resource/User?access_token=", prefix + "openid_profile?access_token="} {
			if a := w.guest().get(path + access); a.status == http.StatusOK {
				t.Errorf("%s takes the token from the query", path)
			}
		}
	})
}

// TestReplayedCode: a code that comes twice ends what it gave (RFC 6749 section
// 4.1.2), also what came of that by a refresh.
func TestReplayedCode(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		code := w.code()
		first := w.redeem(code).ok()
		second := w.refresh(first.str("refresh_token")).ok()
		if !w.works(second.str("access_token")) {
			t.Fatal("the token does not work")
		}
		w.redeem(code).is(400, "invalid_grant")
		if w.works(second.str("access_token")) {
			t.Error("the token works after the code came twice")
		}
		w.refresh(second.str("refresh_token")).is(400, "invalid_grant")
	})
}

// TestRefreshTokensRotate: within the grace a used token gives the same successor
// however often it comes, or the latest of its line; after it, it ends the family.
func TestRefreshTokensRotate(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		_, refresh := w.tokens()
		successors := map[string]bool{}
		for i := range 12 {
			a := w.refresh(refresh).ok()
			successors[a.str("refresh_token")] = true
			if !w.works(a.str("access_token")) {
				t.Errorf("pair %d does not work", i)
			}
		}
		if len(successors) != 1 || successors[refresh] {
			t.Fatalf("%d lines of descent", len(successors))
		}
		var second, third string
		for second = range successors {
			third = w.refresh(second).ok().str("refresh_token")
		}
		if again := w.refresh(refresh).ok().str("refresh_token"); again != third || again == second {
			t.Error("the first of the line does not lead to its latest")
		}
		clock.add(11)
		if a := w.refresh(third); a.status != 200 || a.str("refresh_token") == third {
			t.Errorf("the line does not live on: %d %s", a.status, a.text)
		}
		w.refresh(second).is(400, "invalid_grant")
		w.refresh(third).is(400, "invalid_grant")

		access, refresh := w.tokens()
		next := w.refresh(refresh).ok()
		if w.works(access) {
			t.Error("the access token lives after its refresh")
		}
		clock.add(11)
		w.refresh(refresh).is(400, "invalid_grant")
		if w.works(next.str("access_token")) {
			t.Error("the family lives after a refresh token came again")
		}
		w.refresh(next.str("refresh_token")).is(400, "invalid_grant")
	}, clock.option)
}

// TestScopesOnRefresh: a refresh may ask for less and not for more, and may have
// all again the next time (RFC 6749 section 6).
func TestScopesOnRefresh(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		_, refresh := w.tokens("scope", "openid all")
		less := w.refresh(refresh, "scope", "openid").ok()
		if less.str("scope") != "openid" {
			t.Errorf("scope %q", less.str("scope"))
		}
		if a := w.bearer(less.str("access_token"), "GET", "/api/resource/User", ""); a.status != http.StatusForbidden {
			t.Errorf("a narrowed token reads users: %d", a.status)
		}
		all := w.refresh(less.str("refresh_token")).ok()
		if all.str("scope") != "openid all" {
			t.Errorf("scope %q", all.str("scope"))
		}
		w.refresh(all.str("refresh_token"), "scope", "openid nonsense").is(400, "invalid_scope")

		_, refresh = w.tokens("scope", "openid")
		w.refresh(refresh, "scope", "openid all").is(400, "invalid_scope")
		w.refresh(refresh).ok() // the attempt has not spent it
	})
}

// TestLifetimes are those of the settings, by the site's clock.
func TestLifetimes(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		late := w.code()
		clock.add(61)
		w.redeem(late).is(400, "invalid_grant")

		access, refresh := w.tokens()
		clock.add(3599)
		if !w.works(access) {
			t.Error("an access token ends early")
		}
		clock.add(2)
		if w.works(access) {
			t.Error("an expired access token works")
		}
		if a := w.form("introspect_token", "token", access).ok(); a.text != `{"active":false}` {
			t.Errorf("an expired token is active: %s", a.text)
		}
		clock.add(29 * 24 * 3600)
		if seen := w.form("introspect_token", "token", refresh, "token_type_hint", "refresh_token").ok(); seen.json["active"] != true {
			t.Errorf("refresh token: %s", seen.text)
		}
		refresh = w.refresh(refresh).ok().str("refresh_token")
		clock.add(30*24*3600 + 1)
		w.refresh(refresh).is(400, "invalid_grant")

		w.browser = w.login("Administrator", password) // sessions end, too
		w.settings(map[string]any{"access_token_lifetime": 60, "authorization_code_lifetime": 30, "refresh_token_lifetime": 120})
		code := w.code()
		clock.add(29)
		a := w.redeem(code).ok()
		if a.json["expires_in"] != float64(60) {
			t.Errorf("expires_in %v", a.json["expires_in"])
		}
		if id := claims(t, a.str("id_token"), w.secret); id["exp"] != id["iat"].(float64)+60 {
			t.Errorf("ID token %v", id)
		}
		clock.add(121)
		w.refresh(a.str("refresh_token")).is(400, "invalid_grant")
		for _, bad := range []map[string]any{{"access_token_lifetime": 0}, {"authorization_code_lifetime": 601}, {"refresh_token_grace": -1}, {"allowed_public_client_origins": "example.com"}} {
			w.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", bad).Fails(t, http.StatusExpectationFailed, map[bool]string{true: "NonNegativeError", false: "ValidationError"}[bad["refresh_token_grace"] != nil])
		}
	}, clock.option)
}

// TestGuessingSecrets: after too many wrong secrets even the right one is refused,
// from this address and for this client alone.
func TestGuessingSecrets(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		other, secret := w.client(nil)
		guess := func() *answer {
			return w.form("get_token", "grant_type", "refresh_token", "refresh_token", "x", "client_id", w.id, "client_secret", "wrong")
		}
		for range 11 {
			guess().is(400, "invalid_client")
		}
		locked := w.refresh("x")
		if n, _ := strconv.Atoi(locked.header.Get("Retry-After")); locked.status != http.StatusTooManyRequests || n < 1 {
			t.Errorf("not locked: %d %v", locked.status, locked.header)
		}
		locked.is(429, "temporarily_unavailable")
		w.form("get_token", "grant_type", "refresh_token", "refresh_token", "x", "client_id", other, "client_secret", secret).is(400, "invalid_grant")
		clock.add(61)
		w.refresh("x").is(400, "invalid_grant")
	}, clock.option)
}

// TestResources: a grant is bound to the resources it was asked for (RFC 8707).
func TestResources(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		resource := w.URL + "/api"
		code := w.code("resource", resource)
		w.redeem(code, "resource", w.URL+"/other").is(400, "invalid_target")
		a := w.redeem(code, "resource", resource).ok()
		seen := w.form("introspect_token", "token", a.str("access_token")).ok()
		if list, _ := seen.json["aud"].([]any); len(list) != 1 || list[0] != resource {
			t.Errorf("introspection %s", seen.text)
		}
		w.refresh(a.str("refresh_token"), "resource", "https://other.example/").is(400, "invalid_target")
		w.redeem(w.code(), "resource", "https://other.example/").is(400, "invalid_target")
		w.redeem(w.code(), "resource", resource).ok()
	})
}

// TestExpiringCode: whenever in the course of its redemption a code expires, it is
// either refused or redeemed as a whole.
func TestExpiringCode(t *testing.T) {
	c := newClock()
	var countdown atomic.Int64 // looks at the clock until it jumps; below 0: it does not
	countdown.Store(-1)
	each(t, nil, func(t *testing.T, w *world) {
		redeemed := 0
		for looks := int64(1); looks < 200; looks++ {
			code := w.code()
			countdown.Store(looks)
			a := w.redeem(code)
			jumped := countdown.Swap(-1) <= 0
			switch {
			case a.status == http.StatusOK && a.str("id_token") != "":
				redeemed++
			case a.status != http.StatusBadRequest || a.str("error") != "invalid_grant":
				t.Fatalf("after %d looks at the clock: %d %s", looks, a.status, a.text)
			}
			if !jumped {
				break
			}
		}
		if redeemed == 0 {
			t.Error("no code was redeemed")
		}
	}, func(h *sites.Config) {
		h.Clock = func() time.Time {
			if countdown.Load() >= 0 && countdown.Add(-1) == 0 {
				c.add(61)
			}
			return time.Unix(c.seconds.Load(), 0)
		}
	})
}
