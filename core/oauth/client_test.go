package oauth_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// registerWith registers a client as anybody may.
func (w *world) registerWith(values map[string]any) *answer {
	w.t.Helper()
	body, err := json.Marshal(values)
	if err != nil {
		w.t.Fatal(err)
	}
	b := w.guest()
	r := b.request(http.MethodPost, prefix+"register_client", body)
	r.Header.Set("Content-Type", "application/json")
	a := b.do(r)
	if a.status != http.StatusCreated {
		w.t.Fatalf("register: %d %s", a.status, a.text)
	}
	return a
}

// TestWhatIsRegistered: every value that was set comes back (RFC 7591 section
// 3.2.1), and what a stranger gets unasked is little.
func TestWhatIsRegistered(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		if keys, _ := w.guest().get("/.well-known/jwks.json").ok().json["keys"].([]any); len(keys) != 1 {
			t.Errorf("%d keys before the first token", len(keys))
		}
		a := w.registerWith(map[string]any{"redirect_uris": []string{callback}})
		for key, want := range map[string]any{
			"client_name": "client.example", "scope": "openid", "id_token_signed_response_alg": "RS256",
			"token_endpoint_auth_method": "client_secret_basic",
		} {
			if a.json[key] != want {
				t.Errorf("%s is %v, want %v", key, a.json[key], want)
			}
		}
		id, secret := a.str("client_id"), a.str("client_secret")
		if a := w.browser.get(w.query("client_id", id, "scope", "all")); a.status != 400 || a.location != "" {
			t.Errorf("all, unasked: %d to %q", a.status, a.location)
		}
		code := w.browser.decide(w.browser.get(w.query("client_id", id, "scope", "openid")).consent(), "allow").redirected(callback).Get("code")
		got := w.basic("get_token", id, secret, "grant_type", "authorization_code", "code", code, "redirect_uri", callback).ok()
		keys, _ := w.guest().get("/.well-known/jwks.json").ok().json["keys"].([]any)
		verifyRS256(t, got.str("id_token"), keys)

		for _, c := range []struct {
			method string
			want   string
		}{{"", "HS256"}, {"Client Secret Post", "HS256"}, {"None", "RS256"}} {
			doc := w.Admin.On(t).Post("/api/resource/OAuth%20Client", map[string]any{
				"app_name": "x", "redirect_uris": callback, "token_endpoint_auth_method": c.method,
			}).Data(t)
			if doc["id_token_signed_response_alg"] != c.want {
				t.Errorf("%q signs with %v", c.method, doc["id_token_signed_response_alg"])
			}
		}
	})
}

// TestHeadIssuesNothing: a scanner of links leaves no code behind.
func TestHeadIssuesNothing(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		a := w.browser.do(w.browser.request(http.MethodHead, w.query(), nil))
		if a.status != http.StatusOK || a.location != "" {
			t.Errorf("%d to %q", a.status, a.location)
		}
		if n := len(w.Admin.On(t).Get("/api/resource/OAuth%20Authorization%20Code").List(t)); n != 0 {
			t.Errorf("%d codes", n)
		}
	})
}

// TestIDTokenHint: a client that asks without a question for one user gets no code
// of another.
func TestIDTokenHint(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.someone("u@example.com")
		mine := w.redeem(w.code()).ok().str("id_token")
		other := w.login("u@example.com", password)
		if q := w.browser.get(w.query("prompt", "none", "id_token_hint", mine)).redirected(callback); q.Get("code") == "" {
			t.Errorf("the user meant: %v", q)
		}
		if q := other.get(w.query("prompt", "none", "id_token_hint", mine)).redirected(callback); q.Get("error") != "login_required" {
			t.Errorf("another user: %v", q)
		}
		if a := other.get(w.query("id_token_hint", mine)); !strings.HasPrefix(a.location, "/login?switch=1") {
			t.Errorf("another user who may be asked: %d %s", a.status, a.location)
		}
		parts := strings.Split(mine, ".")
		unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
		for _, hint := range []string{"x", unsigned, mine + "x", parts[0] + "." + parts[1] + ".AAAA"} {
			if q := w.browser.get(w.query("prompt", "none", "id_token_hint", hint)).redirected(callback); q.Get("error") != "invalid_request" {
				t.Errorf("%.20s: %v", hint, q)
			}
		}
	})
}

// TestWhoMayIntrospect: nothing is said of a token to who does not say who they
// are, and to who anybody could be only of their own.
func TestWhoMayIntrospect(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		access, _ := w.tokens()
		bare := url.Values{"token": {access}}
		ask := func(change func(*http.Request), pairs ...string) *answer {
			form := url.Values{"token": {access}}
			for i := 0; i+1 < len(pairs); i += 2 {
				form.Set(pairs[i], pairs[i+1])
			}
			return w.send("introspect_token", form, change)
		}
		header := func(value string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("Authorization", value) }
		}
		challenged := func(a *answer, bearer string) {
			t.Helper()
			if got := a.header.Values("Www-Authenticate"); !slices.Equal(got, []string{`Basic realm="OAuth"`, bearer}) {
				t.Errorf("challenges %q", got)
			}
		}
		for _, token := range []string{access, "rubbish"} {
			bare.Set("token", token)
			challenged(w.send("introspect_token", bare, nil).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		}
		public, _ := w.client(map[string]any{"token_endpoint_auth_method": "None"})
		challenged(ask(nil, "client_id", w.id).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(ask(nil, "client_id", public).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(w.basic("introspect_token", public, "", "token", access).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(w.basic("introspect_token", w.id, "wrong", "token", access).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(ask(nil, "client_id", w.id, "client_secret", "wrong").is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(ask(header("Digest x")).is(401, "invalid_client"), `Bearer realm="OAuth"`)
		challenged(ask(header("Bearer stale")).is(401, "invalid_token"), `Bearer realm="OAuth", error="invalid_token"`)
		challenged(ask(header("Bearer")).is(401, "invalid_token"), `Bearer realm="OAuth", error="invalid_token"`)
		active := func(a *answer) bool { t.Helper(); return a.ok().json["active"] == true }
		if !active(ask(nil, "client_id", w.id, "client_secret", w.secret)) || !active(ask(header("Bearer "+access))) || !active(ask(header(w.Admin.Authorization))) {
			t.Error("who may know is not told")
		}
		if !active(w.basic("introspect_token", w.id, w.secret, "token", access)) {
			t.Error("a client by Basic is not told")
		}
		stranger := w.registerWith(map[string]any{"redirect_uris": []string{callback}})
		if active(ask(nil, "client_id", stranger.str("client_id"), "client_secret", stranger.str("client_secret"))) {
			t.Error("a client that registered itself learns of the tokens of others")
		}
		w.someone("u@example.com")
		if active(ask(header(w.As(t, "u@example.com").Authorization))) {
			t.Error("a user learns of the tokens of others")
		}
		w.settings(map[string]any{"introspection_without_credentials": 1})
		if !active(ask(nil)) {
			t.Error("the setting opens nothing")
		}
		ask(nil, "client_id", w.id, "client_secret", "wrong").is(401, "invalid_client")
	})
}

// TestSessionAndHeaderAtTheConsent: a code is for one user, so a request that names
// two gets none.
func TestSessionAndHeaderAtTheConsent(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.someone("u@example.com")
		r := w.browser.request(http.MethodGet, w.query(), nil)
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Authorization", w.As(t, "u@example.com").Authorization)
		w.browser.do(r).is(400, "invalid_request")
	})
}

// someone makes a user who can log in.
func (w *world) someone(user string) {
	w.t.Helper()
	w.User(w.t, user)
	w.password(user)
}
