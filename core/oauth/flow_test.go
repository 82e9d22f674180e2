package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestWholeFlow goes the whole way: from a client made over REST, through the
// consent page, to tokens that work, are renewed, looked into and taken back.
func TestWholeFlow(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, map[string]any{"skip_authorization": 0})
		s.Admin.On(t).Post("/api/resource/ToDo", map[string]any{"description": "x"}).OK(t)
		request := w.query("nonce", "n-0S6", "code_challenge", s256, "code_challenge_method", "S256")

		page := w.browser.get(request)
		back := w.browser.decide(page.consent(), "allow").redirected(callback)
		if back.Get("state") != "s1" || back.Get("iss") != s.URL || len(back) != 3 {
			t.Fatalf("answer %v", back)
		}
		first := w.redeem(back.Get("code"), "code_verifier", verifier).ok()
		if first.str("token_type") != "Bearer" || first.json["expires_in"] != float64(3600) || first.str("scope") != "all openid" {
			t.Errorf("tokens %s", first.text)
		}
		if cc := first.header.Get("Cache-Control"); !strings.Contains(cc, "no-store") {
			t.Errorf("Cache-Control %q", cc)
		}
		access, refresh := first.str("access_token"), first.str("refresh_token")

		id := claims(t, first.str("id_token"), w.secret)
		sum := sha256.Sum256([]byte(access))
		if id["aud"] != w.id || id["iss"] != s.URL || id["nonce"] != "n-0S6" || id["exp"] != id["iat"].(float64)+3600 ||
			id["at_hash"] != base64.RawURLEncoding.EncodeToString(sum[:16]) || id["email"] == nil || id["sub"] == "" {
			t.Errorf("ID token %v", id)
		}

		list := w.bearer(access, "GET", "/api/resource/ToDo", "").ok()
		if rows := list.json["data"].([]any); len(rows) != 1 {
			t.Errorf("list %s", list.text)
		}
		user := w.bearer(access, "GET", prefix+"openid_profile", "").ok()
		if user.json["sub"] != id["sub"] || user.json["iss"] != s.URL || user.json["roles"] == nil {
			t.Errorf("userinfo %s", user.text)
		}

		seen := w.form("introspect_token", "token", access).ok()
		if seen.json["active"] != true || seen.json["client_id"] != w.id || seen.json["trusted_client"] != float64(0) ||
			seen.json["scope"] != "all openid" || seen.json["sub"] != id["sub"] {
			t.Errorf("introspection %s", seen.text)
		}

		second := w.refresh(refresh).ok()
		if second.str("access_token") == access || second.str("refresh_token") == refresh {
			t.Errorf("nothing new: %s", second.text)
		}
		again := claims(t, second.str("id_token"), w.secret)
		if again["nonce"] != nil || again["sub"] != id["sub"] {
			t.Errorf("ID token of the refresh %v", again)
		}
		if w.works(access) || !w.works(second.str("access_token")) {
			t.Error("the refresh did not replace the access token")
		}

		gone := w.form("revoke_token", "token", second.str("refresh_token"))
		if gone.status != http.StatusOK || gone.text != "" {
			t.Errorf("revocation %d %q", gone.status, gone.text)
		}
		if w.works(second.str("access_token")) {
			t.Error("a revoked token works")
		}
		for _, token := range []string{access, refresh, second.str("access_token"), second.str("refresh_token"), "rubbish"} {
			if a := w.form("introspect_token", "token", token).ok(); a.text != `{"active":false}` {
				t.Errorf("introspection of a token that is gone: %s", a.text)
			}
		}
	})
}

// TestReferenceCases are cases 62 to 73 of the reference.
func TestReferenceCases(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, nil)

		guest := w.guest().get(w.query()) // 62
		if want := "/login?redirect-to=" + url.QueryEscape(w.query()); guest.status != http.StatusFound || guest.location != want {
			t.Errorf("62: %d %q", guest.status, guest.location)
		}
		trusted := w.browser.get(w.query()) // 63
		if q := trusted.redirected(callback); trusted.status != http.StatusFound || q.Get("state") != "s1" || q.Get("code") == "" {
			t.Errorf("63: %d %v", trusted.status, q)
		}
		code := w.code("nonce", "abc") // 64, 68
		first := w.redeem(code).ok()
		for _, key := range []string{"access_token", "refresh_token", "expires_in", "scope", "id_token", "token_type"} {
			if first.json[key] == nil {
				t.Errorf("64: no %s", key)
			}
		}
		if c := claims(t, first.str("id_token"), w.secret); c["nonce"] != "abc" || c["email"] == nil {
			t.Errorf("68: %v", c)
		}
		proven := w.code("code_challenge", s256, "code_challenge_method", "S256") // 65
		w.redeem(proven, "code_verifier", verifier[:42]+"l").is(400, "invalid_grant")
		w.redeem(proven, "code_verifier", verifier).ok()
		w.redeem(code).is(400, "invalid_grant") // 66
		r := w.browser.request(http.MethodGet, w.query("redirect_uri", "https://evil.example/"), nil)
		r.Header.Set("Accept", "application/json")
		w.browser.do(r).is(400, "invalid_request") // 67
		access, refresh := w.tokens()
		renewed := w.refresh(refresh).ok() // 69
		if renewed.str("access_token") == access || renewed.str("refresh_token") == refresh || renewed.str("id_token") == "" {
			t.Errorf("69: %s", renewed.text)
		}
		if a := w.form("revoke_token", "token", "rubbish"); a.status != 200 || a.text != "" { // 70, as the specification has it
			t.Errorf("70: %d %q", a.status, a.text)
		}
		if a := w.form("introspect_token", "token", "rubbish"); a.status != 200 || a.text != `{"active":false}` {
			t.Errorf("71: %d %q", a.status, a.text)
		}
		made := s.Guest.On(t).Post(prefix+"register_client", map[string]any{"client_name": "x", "redirect_uris": []string{callback}}) // 72
		if made.Status != http.StatusCreated || made.Body["client_id"] == nil || made.Body["client_secret"] == nil {
			t.Errorf("72: %d %s", made.Status, made.Text)
		}
		meta := s.Guest.On(t).Get("/.well-known/oauth-authorization-server") // 73
		if list, _ := meta.OK(t).Body["code_challenge_methods_supported"].([]any); len(list) != 1 || list[0] != "S256" {
			t.Errorf("73: %s", meta.Text)
		}
		s.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", map[string]any{"show_auth_server_metadata": 0}).OK(t)
		if off := s.Guest.On(t).Get("/.well-known/oauth-authorization-server"); off.Status != http.StatusNotFound {
			t.Errorf("73: switched off: %d", off.Status)
		}
	})
}
