package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// each runs a test on a world in every database.
func each(t *testing.T, with map[string]any, test func(t *testing.T, w *world), options ...sitetest.Option) {
	t.Helper()
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) { test(t, newWorld(t, s, with)) }, options...)
}

// on is the same world failing a subtest.
func (w *world) on(t *testing.T) *world {
	c := *w
	b := *w.browser
	b.t = t
	c.t, c.browser = t, &b
	return &c
}

// TestRedirectURIsMatchExactly: an answer goes to an address that is registered
// letter by letter, or nowhere (RFC 6749 section 3.1.2.3, RFC 9700 section 2.1).
func TestRedirectURIsMatchExactly(t *testing.T) {
	const loop, query, native = "http://127.0.0.1:8123/cb", "https://client.example/q?a=1&b=2", "com.example.app:/cb"
	each(t, map[string]any{"redirect_uris": strings.Join([]string{callback, loop, query, native}, " ")}, func(t *testing.T, w *world) {
		for _, uri := range []string{callback, loop, native} {
			if q := w.browser.get(w.query("redirect_uri", uri)).redirected(uri); q.Get("code") == "" {
				t.Errorf("%s: %v", uri, q)
			}
		}
		if a := w.browser.get(w.query("redirect_uri", query)); !strings.HasPrefix(a.location, query+"&code=") {
			t.Errorf("the URI's own query is not kept: %s", a.location)
		}
		for _, uri := range []string{
			"https://client.example/cb/", "https://client.example/CB", "https://CLIENT.example/cb", "HTTPS://client.example/cb",
			"https://client.example/cb?", "https://client.example/cb?x=1", "https://client.example/cb#", "https://client.example/cb#f",
			"https://client.example/%63b", "https://client.example//cb", "https://client.example/a/../cb", "https://client.example:443/cb",
			"https://evil@client.example/cb", "https://client.example@evil.example/cb", "https://client.example.evil.example/cb",
			"https://client.example/cb https://evil.example", "https://client.example/cb\n", " https://client.example/cb", "//client.example/cb",
			"http://client.example/cb", "http://127.0.0.1:9/cb", "http://evil@127.0.0.1:8123/cb", "http://localhost:8123/cb",
			"http://127.0.0.1:8123/cb?x", "http://[::1]:8123/cb", "com.example.app:/cb/", "javascript:alert(1)", "https://client.example/q?b=2&a=1",
		} {
			a := w.browser.get(w.query("redirect_uri", uri))
			if a.status != http.StatusBadRequest || a.location != "" || !strings.Contains(a.header.Get("Content-Type"), "text/html") {
				t.Errorf("%q: %d to %q", uri, a.status, a.location)
			}
		}
	})
}

// TestDefaultRedirectURI: without a redirect URI the answer goes to the default
// one, and the token request need not name it.
func TestDefaultRedirectURI(t *testing.T) {
	each(t, map[string]any{"redirect_uris": "https://other.example/a https://other.example/b"}, func(t *testing.T, w *world) {
		code := func() string {
			return w.browser.get(w.query("redirect_uri", "")).redirected(callback).Get("code")
		}
		w.form("get_token", "grant_type", "authorization_code", "code", code(), "client_id", w.id, "client_secret", w.secret).ok()
		w.redeem(code()).ok()
		first := code()
		w.form("get_token", "grant_type", "authorization_code", "code", first, "redirect_uri", "https://other.example/a",
			"client_id", w.id, "client_secret", w.secret).is(400, "invalid_grant")
		// One that was named has to be named again, the same.
		named := w.code()
		w.form("get_token", "grant_type", "authorization_code", "code", named, "client_id", w.id, "client_secret", w.secret).is(400, "invalid_grant")
		w.form("get_token", "grant_type", "authorization_code", "code", named, "redirect_uri", "https://other.example/a",
			"client_id", w.id, "client_secret", w.secret).is(400, "invalid_grant")
	})
}

// TestStateAndIssuer: the state comes back as it was sent, of any length, and only
// if it was; every answer says whose it is (RFC 9207).
func TestStateAndIssuer(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for _, state := range []string{"x", "a b+c&d=e%20#", strings.Repeat("s", 3000), "ü€"} {
			q := w.browser.get(w.query("state", state)).redirected(callback)
			if q.Get("state") != state || q.Get("iss") != w.URL {
				t.Errorf("state %q came back as %q, iss %q", state, q.Get("state"), q.Get("iss"))
			}
		}
		if q := w.browser.get(w.query("state", "")).redirected(callback); q.Has("state") {
			t.Errorf("a state that was not sent came back: %v", q)
		}
		q := w.browser.get(w.query("response_type", "token")).redirected(callback)
		if q.Get("error") != "unsupported_response_type" || q.Get("state") != "s1" || q.Get("iss") != w.URL {
			t.Errorf("error answer %v", q)
		}
	})
}

// TestRequestsForAuthorization is what a client may ask for, by the error it gets.
func TestRequestsForAuthorization(t *testing.T) {
	each(t, map[string]any{"scopes": "openid resource:ToDo:write method:acme.*", "redirect_uris": callback}, func(t *testing.T, w *world) {
		public, _ := w.client(map[string]any{"token_endpoint_auth_method": "None"})
		implicit, _ := w.client(map[string]any{"grant_type": "Implicit", "response_type": "Token"})
		tests := []struct {
			name  string
			pairs []string
			error string // empty: a code
		}{
			{"no scope", []string{"scope", ""}, ""},
			{"less scope", []string{"scope", "openid"}, ""},
			{"narrower scope", []string{"scope", "resource:ToDo:read method:acme.todo.close"}, ""},
			{"more scope", []string{"scope", "openid all"}, "invalid_scope"},
			{"wider scope", []string{"scope", "resource:*:read"}, "invalid_scope"},
			{"another case", []string{"scope", "OpenID"}, "invalid_scope"},
			{"unknown scope", []string{"scope", "openid nonsense"}, "invalid_scope"},
			{"malformed scope", []string{"scope", "open\"id"}, "invalid_scope"},
			{"no response_type", []string{"scope", "openid", "response_type", ""}, "invalid_request"},
			{"implicit", []string{"scope", "openid", "response_type", "token"}, "unsupported_response_type"},
			{"hybrid", []string{"scope", "openid", "response_type", "code id_token"}, "unsupported_response_type"},
			{"form_post", []string{"scope", "openid", "response_mode", "form_post"}, "invalid_request"},
			{"query", []string{"scope", "openid", "response_mode", "query"}, ""},
			{"request object", []string{"scope", "openid", "request", "x.y.z"}, "request_not_supported"},
			{"request_uri", []string{"scope", "openid", "request_uri", "https://evil.example/"}, "request_uri_not_supported"},
			{"unknown parameter", []string{"scope", "openid", "ui_locales", "de", "cmd", "x"}, ""},
			{"challenge", []string{"scope", "openid", "code_challenge", s256, "code_challenge_method", "S256"}, ""},
			{"plain challenge", []string{"scope", "openid", "code_challenge", verifier, "code_challenge_method", "plain"}, ""},
			{"challenge without a method", []string{"scope", "openid", "code_challenge", verifier}, ""},
			{"unknown method", []string{"scope", "openid", "code_challenge", s256, "code_challenge_method", "S512"}, "invalid_request"},
			{"method in another case", []string{"scope", "openid", "code_challenge", s256, "code_challenge_method", "s256"}, "invalid_request"},
			{"short challenge", []string{"scope", "openid", "code_challenge", s256[1:], "code_challenge_method", "S256"}, "invalid_request"},
			{"method without a challenge", []string{"scope", "openid", "code_challenge_method", "S256"}, "invalid_request"},
			{"public client without a challenge", []string{"scope", "openid", "client_id", public}, "invalid_request"},
			{"public client", []string{"scope", "openid", "client_id", public, "code_challenge", s256, "code_challenge_method", "S256"}, ""},
			{"client of another flow", []string{"scope", "openid", "client_id", implicit}, "unauthorized_client"},
			{"resource", []string{"scope", "openid", "resource", w.URL + "/api"}, ""},
			{"another server's resource", []string{"scope", "openid", "resource", "https://other.example/"}, "invalid_target"},
			{"resource with a fragment", []string{"scope", "openid", "resource", w.URL + "/#x"}, "invalid_target"},
			{"relative resource", []string{"scope", "openid", "resource", "/api"}, "invalid_target"},
			{"no prompt needed", []string{"scope", "openid", "prompt", "none"}, ""},
			{"none and another prompt", []string{"scope", "openid", "prompt", "none login"}, "invalid_request"},
			{"unknown prompt", []string{"scope", "openid", "prompt", "create"}, "invalid_request"},
			{"max_age", []string{"scope", "openid", "max_age", "3600"}, ""},
			{"max_age that is no number", []string{"scope", "openid", "max_age", "-1"}, "invalid_request"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := w.on(t)
				q := w.browser.get(w.query(tt.pairs...)).redirected(callback)
				if q.Get("error") != tt.error || (q.Get("code") != "") != (tt.error == "") {
					t.Errorf("answer %v", q)
				}
			})
		}
	})
}

// TestErrorsThatStayHere: where the redirect URI cannot be trusted, or the client
// is unknown, the error is for the user: a page for a browser, JSON for a program.
func TestErrorsThatStayHere(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for name, path := range map[string]string{
			"no client":       w.query("client_id", ""),
			"unknown client":  w.query("client_id", "<script>"),
			"wrong redirect":  w.query("redirect_uri", "https://evil.example/"),
			"repeated":        w.query() + "&state=again",
			"repeated client": w.query() + "&client_id=" + w.id,
			"not text":        w.query() + "&nonce=%ff",
			"NUL":             w.query() + "&nonce=%00",
			"unreadable":      w.query() + "&x=%zz",
		} {
			page := w.browser.get(path)
			if page.status != http.StatusBadRequest || page.location != "" || strings.Contains(page.text, "<script>") {
				t.Errorf("%s: %d to %q: %s", name, page.status, page.location, page.text)
			}
			framing(t, page)
			r := w.browser.request(http.MethodGet, path, nil)
			r.Header.Set("Accept", "application/json")
			a := w.browser.do(r).is(400, "invalid_request")
			if a.json["status_code"] != float64(400) || a.json["description"] == "" {
				t.Errorf("%s: %s", name, a.text)
			}
		}
	})
}

func framing(t *testing.T, a *answer) {
	t.Helper()
	if a.header.Get("X-Frame-Options") != "DENY" || !strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("the page can be framed: %v", a.header)
	}
}

// TestConsent: the answer counts only from the page that asked, in the session in
// which it asked, about the request that was shown.
func TestConsent(t *testing.T) {
	each(t, map[string]any{"skip_authorization": 0, "app_name": "<b>App</b>"}, func(t *testing.T, w *world) {
		page := w.browser.get(w.query("state", "st"))
		framing(t, page)
		if strings.Contains(page.text, "<b>App") || !strings.Contains(page.header.Get("Cache-Control"), "no-store") {
			t.Errorf("page: %v\n%s", page.header, page.text)
		}
		form := page.consent()

		denied := w.browser.decide(form, "deny").redirected(callback)
		if denied.Get("error") != "access_denied" || denied.Get("state") != "st" || denied.Get("iss") != w.URL || denied.Has("code") {
			t.Errorf("denied: %v", denied)
		}
		if q := w.browser.decide(form, "").redirected(callback); q.Get("error") != "access_denied" {
			t.Errorf("no decision: %v", q)
		}

		refused := func(name string, a *answer) {
			t.Helper()
			if a.status < 400 || a.location != "" {
				t.Errorf("%s: %d to %q", name, a.status, a.location)
			}
		}
		bare := consent{form.action, url.Values{"request": form.fields["request"]}}
		refused("no proof", w.browser.decide(bare, "allow"))
		other := consent{form.action, url.Values{"request": {strings.Replace(form.fields.Get("request"), "state=st", "state=xx", 1)}, "proof": form.fields["proof"]}}
		refused("another request", w.browser.decide(other, "allow"))
		second := w.login("Administrator", password)
		refused("another session", second.decide(form, "allow"))
		if a := w.browser.get(form.action + "?" + form.fields.Encode() + "&decision=allow"); a.status != http.StatusMethodNotAllowed {
			t.Errorf("GET: %d to %q", a.status, a.location)
		}
		cross := w.browser.request(http.MethodPost, form.action, []byte(form.fields.Encode()+"&decision=allow"))
		cross.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		cross.Header.Set("Origin", "https://evil.example")
		cross.Header.Set("Sec-Fetch-Site", "cross-site")
		refused("a page of another site", w.browser.do(cross))
		if a := w.guest().decide(form, "allow"); !strings.HasPrefix(a.location, "/login?redirect-to=") {
			t.Errorf("nobody logged in: %d to %q", a.status, a.location)
		}

		if q := w.browser.decide(form, "allow").redirected(callback); q.Get("code") == "" {
			t.Errorf("allowed: %v", q)
		}

		// A request that names no scopes is for those of the client: what the user
		// was shown is what the user allows, whatever the client has by now.
		client := "/api/resource/OAuth%20Client/" + w.id
		w.Admin.On(t).Put(client, map[string]any{"scopes": "openid"}).OK(t)
		form = w.browser.get(w.query("scope", "")).consent()
		w.Admin.On(t).Put(client, map[string]any{"scopes": "all openid"}).OK(t)
		refused("more than was shown", w.browser.decide(form, "allow"))
		w.Admin.On(t).Put(client, map[string]any{"scopes": "openid"}).OK(t)
		if q := w.browser.decide(form, "allow").redirected(callback); q.Get("code") == "" {
			t.Errorf("allowed as shown: %v", q)
		}
	})
}

// TestOnlySessionsConsent: an API key or an access token is no browser session: a
// token must not get itself a better one.
func TestOnlySessionsConsent(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		access, _ := w.tokens("scope", "openid")
		for _, authorization := range []string{w.Admin.Authorization, "Bearer " + access} {
			b := w.guest()
			r := b.request(http.MethodGet, w.query(), nil)
			r.Header.Set("Authorization", authorization)
			if a := b.do(r); !strings.HasPrefix(a.location, "/login?") {
				t.Errorf("%.12s: %d to %q", authorization, a.status, a.location)
			}
		}
	})
}

// TestPrompt is OpenID Connect Core section 3.1.2.1: none asks nobody, login asks
// for the password again, consent asks even for a trusted client.
func TestPrompt(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		if q := w.guest().get(w.query("prompt", "none")).redirected(callback); q.Get("error") != "login_required" || q.Get("state") != "s1" {
			t.Errorf("none, nobody logged in: %v", q)
		}
		w.browser.get(w.query("prompt", "consent")).consent()
		again := w.browser.get(w.query("prompt", "login"))
		back, ok := strings.CutPrefix(again.location, "/login?switch=1&redirect-to=")
		if !ok {
			t.Fatalf("login: %d to %q", again.status, again.location)
		}
		back, _ = url.QueryUnescape(back)
		if strings.Contains(back, "prompt") {
			t.Errorf("the way back asks again: %s", back)
		}
		code := w.login("Administrator", password).get(back).redirected(callback).Get("code")
		id := claims(t, w.redeem(code).ok().str("id_token"), w.secret)
		if id["auth_time"] == nil {
			t.Errorf("no auth_time: %v", id)
		}
		if a := w.browser.get(w.query("max_age", "0")); !strings.HasPrefix(a.location, "/login?switch=1&") {
			t.Errorf("max_age=0: %d to %q", a.status, a.location)
		}
		untrusted, _ := w.client(map[string]any{"skip_authorization": 0})
		if q := w.browser.get(w.query("client_id", untrusted, "prompt", "none")).redirected(callback); q.Get("error") != "consent_required" {
			t.Errorf("none, consent needed: %v", q)
		}
	})
}

// TestStrangers: a client that anybody could have registered gets nobody sent to it
// before he has let it in, be it with an error (RFC 9700 section 4.11.2).
func TestStrangers(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		made := w.Guest.On(t).Post(prefix+"register_client", map[string]any{"client_name": "Self", "redirect_uris": []string{callback}, "token_endpoint_auth_method": "client_secret_post", "scope": "all openid"})
		if made.Status != http.StatusCreated {
			t.Fatalf("register: %d %s", made.Status, made.Text)
		}
		id, secret := made.Body["client_id"].(string), made.Body["client_secret"].(string)
		none := w.query("client_id", id, "prompt", "none")
		wrong := w.query("client_id", id, "response_type", "token")
		stays := func(what string, a *answer, code string) {
			t.Helper()
			if a.status != http.StatusBadRequest || a.location != "" || !strings.Contains(a.text, code) {
				t.Errorf("%s: %d to %q: %s", what, a.status, a.location, a.text)
			}
		}
		stays("nobody is logged in", w.guest().get(none), "login_required")
		stays("he has not been asked", w.browser.get(none), "consent_required")
		stays("a mistake", w.browser.get(wrong), "unsupported_response_type")
		if q := w.browser.decide(w.browser.get(w.query("client_id", id)).consent(), "deny").redirected(callback); q.Get("error") != "access_denied" {
			t.Errorf("he said no: %v", q)
		}
		stays("he has said no", w.browser.get(none), "consent_required")
		code := w.browser.decide(w.browser.get(w.query("client_id", id)).consent(), "allow").redirected(callback).Get("code")
		w.form("get_token", "grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", id, "client_secret", secret).ok()
		if q := w.browser.get(wrong).redirected(callback); q.Get("error") != "unsupported_response_type" || q.Get("state") != "s1" {
			t.Errorf("he has let it in: %v", q)
		}
		stays("somebody else", w.guest().get(none), "login_required")
	})
}

// TestMaxAge: a login that is older than the client takes is not enough.
func TestMaxAge(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		if q := w.browser.get(w.query("max_age", "60")).redirected(callback); q.Get("code") == "" {
			t.Errorf("a new login: %v", q)
		}
		clock.add(2 * 60)
		if a := w.browser.get(w.query("max_age", "60")); !strings.HasPrefix(a.location, "/login?switch=1&") {
			t.Errorf("an old login: %d to %q", a.status, a.location)
		}
		if q := w.browser.get(w.query("max_age", "60", "prompt", "none")).redirected(callback); q.Get("error") != "login_required" {
			t.Errorf("an old login, none: %v", q)
		}
	}, clock.option)
}

// TestPostedRequests: a request may come by POST; the cookie goes with the GET that
// follows.
func TestPostedRequests(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		path, query, _ := strings.Cut(w.query(), "?")
		form, _ := url.ParseQuery(query)
		a := w.browser.post(path, form)
		if a.status != http.StatusSeeOther {
			t.Fatalf("%d to %q", a.status, a.location)
		}
		if q := w.browser.get(a.location).redirected(callback); q.Get("code") == "" {
			t.Errorf("answer %v", q)
		}
	})
}

// TestAllowedRoles: a client may be for users of some roles.
func TestAllowedRoles(t *testing.T) {
	each(t, map[string]any{"allowed_roles": []any{map[string]any{"role": "System Manager"}}}, func(t *testing.T, w *world) {
		w.code()
		w.User(t, "u@example.com")
		w.password("u@example.com")
		if q := w.login("u@example.com", password).get(w.query()).redirected(callback); q.Get("error") != "access_denied" {
			t.Errorf("answer %v", q)
		}
	})
}

// TestSettingSkipsConsent: where the settings say so, a user is not asked again
// about what the client has already.
func TestSettingSkipsConsent(t *testing.T) {
	each(t, map[string]any{"skip_authorization": 0, "scopes": "all openid"}, func(t *testing.T, w *world) {
		w.settings(map[string]any{"skip_authorization": 1})
		code := w.browser.decide(w.browser.get(w.query("scope", "openid")).consent(), "allow").redirected(callback).Get("code")
		w.browser.get(w.query("scope", "openid")).consent() // a code that nobody redeemed lets nobody in
		refresh := w.redeem(code).ok().str("refresh_token")
		if q := w.browser.get(w.query("scope", "openid")).redirected(callback); q.Get("code") == "" {
			t.Errorf("answer %v", q)
		}
		w.browser.get(w.query("scope", "openid all")).consent()
		w.form("revoke_token", "token", refresh)
		w.browser.get(w.query("scope", "openid")).consent()
	})
}
