package oauth_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
)

// TestDiscovery: the documents name endpoints that exist, on the origin that was
// asked, and only what is offered.
func TestDiscovery(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
			doc := w.Guest.On(t).Get(path).OK(t).Body
			want := map[string]string{
				"issuer": w.URL, "authorization_endpoint": w.URL + prefix + "authorize", "token_endpoint": w.URL + prefix + "get_token",
				"userinfo_endpoint": w.URL + prefix + "openid_profile", "revocation_endpoint": w.URL + prefix + "revoke_token",
				"introspection_endpoint": w.URL + prefix + "introspect_token", "registration_endpoint": w.URL + prefix + "register_client",
				"jwks_uri": w.URL + "/.well-known/jwks.json",
			}
			for key, value := range want {
				if doc[key] != value {
					t.Errorf("%s: %s is %v", path, key, doc[key])
				}
			}
			text, _ := json.Marshal(doc)
			for _, part := range []string{
				`"response_types_supported":["code"]`, `"code_challenge_methods_supported":["S256"]`,
				`"grant_types_supported":["authorization_code","refresh_token","client_credentials","urn:ietf:params:oauth:grant-type:device_code"]`, `"authorization_response_iss_parameter_supported":true`,
				`"id_token_signing_alg_values_supported":["HS256","RS256"]`, `"subject_types_supported":["public"]`,
			} {
				if !strings.Contains(string(text), part) {
					t.Errorf("%s lacks %s: %s", path, part, text)
				}
			}
		}
		resource := w.Guest.On(t).Get("/.well-known/oauth-protected-resource").OK(t).Body
		if servers, _ := resource["authorization_servers"].([]any); resource["resource"] != w.URL || len(servers) != 1 || servers[0] != w.URL {
			t.Errorf("resource metadata %v", resource)
		}
		if a := w.bearer("wrong", "GET", "/api/resource/User", ""); a.status != http.StatusUnauthorized ||
			a.header.Get("Www-Authenticate") != `Bearer error="invalid_token", resource_metadata="`+w.URL+`/.well-known/oauth-protected-resource"` {
			t.Errorf("challenge %d %q", a.status, a.header.Get("Www-Authenticate"))
		}
		w.settings(map[string]any{"enable_dynamic_client_registration": 0, "show_protected_resource_metadata": 0})
		if doc := w.Guest.On(t).Get("/.well-known/openid-configuration").OK(t).Body; doc["registration_endpoint"] != nil {
			t.Error("registration is announced and off")
		}
		if a := w.Guest.On(t).Get("/.well-known/oauth-protected-resource"); a.Status != http.StatusNotFound {
			t.Errorf("resource metadata that is off: %d", a.Status)
		}
		if a := w.bearer("wrong", "GET", "/api/resource/User", ""); a.header.Get("Www-Authenticate") != `Bearer error="invalid_token"` {
			t.Errorf("challenge %q", a.header.Get("Www-Authenticate"))
		}
		if a := w.Guest.On(t).Post(prefix+"register_client", map[string]any{"client_name": "x", "redirect_uris": []string{callback}}); a.Status != http.StatusNotFound {
			t.Errorf("registration that is off: %d", a.Status)
		}
	})
}

// TestSiteKey: a client may have its ID tokens signed with the site's key, which
// the key set shows; the next key is shown before it signs, the last one after.
func TestSiteKey(t *testing.T) {
	clock := newClock()
	each(t, map[string]any{"id_token_signed_response_alg": "RS256"}, func(t *testing.T, w *world) {
		keys := func() []any {
			return w.Guest.On(t).Get("/.well-known/jwks.json").OK(t).Body["keys"].([]any)
		}
		if n := len(keys()); n != 1 {
			t.Errorf("%d keys before the first token", n)
		}
		sign := func() string {
			t.Helper()
			w.browser = w.login("Administrator", password)
			id := w.redeem(w.code()).ok().str("id_token")
			return verifyRS256(t, id, keys())
		}
		first := sign()
		if again := sign(); again != first || len(keys()) != 1 {
			t.Errorf("another key at once")
		}
		tend := func(days int64) {
			clock.add(days * 24 * 3600)
			if err := w.Tenant.OAuth.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		tend(90)
		if len(keys()) != 2 || sign() != first {
			t.Errorf("after 90 days: %d keys, and the new one has to wait", len(keys()))
		}
		tend(2)
		if sign() == first {
			t.Error("after 92 days the old key signs")
		}
		tend(10)
		if len(keys()) != 1 {
			t.Errorf("after 102 days: %d keys", len(keys()))
		}
		err := w.Tenant.Store.Read(t.Context(), func(tx document.Tx) error {
			sc := w.Tenant.Documents.Schema()
			dt := sc.DocType("OAuth Signing Key")
			sel := &doctype.Select{DocType: dt, Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("sealed")}, Key: "sealed"}}}
			return tx.Rows(t.Context(), sel, func(v []any) error {
				if text, _ := v[0].(string); !strings.HasPrefix(text, "v1.") {
					t.Errorf("a key is not sealed: %.20s", text)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}, clock.option)
}

// verifyRS256 checks an ID token with the key set and returns which key it was.
func verifyRS256(t *testing.T, token string, keys []any) string {
	t.Helper()
	parts := strings.Split(token, ".")
	var head struct{ Alg, Kid string }
	raw, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || json.Unmarshal(raw, &head) != nil || head.Alg != "RS256" {
		t.Fatalf("header of %q", token)
	}
	for _, k := range keys {
		k := k.(map[string]any)
		if k["kid"] != head.Kid {
			continue
		}
		n, _ := base64.RawURLEncoding.DecodeString(k["n"].(string))
		e, _ := base64.RawURLEncoding.DecodeString(k["e"].(string))
		public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature); err != nil {
			t.Fatal(err)
		}
		if len(k) != 6 {
			t.Errorf("the key set shows %v", k)
		}
		return head.Kid
	}
	t.Fatalf("the key %s is not in the set", head.Kid)
	return ""
}

// TestRegistration is RFC 7591: what may be registered, and what comes back.
func TestRegistration(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		register := func(with map[string]any) *answer {
			values := map[string]any{"client_name": "App", "redirect_uris": []string{callback}}
			for k, v := range with {
				values[k] = v
			}
			body, _ := json.Marshal(values)
			b := w.guest()
			r := b.request(http.MethodPost, prefix+"register_client", body)
			r.Header.Set("Content-Type", "application/json")
			return b.do(r)
		}
		a := register(map[string]any{"scope": "openid", "contacts": []string{"a@example.com"}, "skip_authorization": 1, "client_id": "chosen"})
		if a.status != http.StatusCreated || a.json["client_id"] == "chosen" || len(a.str("client_secret")) < 43 || a.json["client_secret_expires_at"] != float64(0) ||
			a.json["token_endpoint_auth_method"] != "client_secret_basic" || a.json["scope"] != "openid" || a.json["client_id_issued_at"] == float64(0) {
			t.Fatalf("%d %s", a.status, a.text)
		}
		// It is used like any other, and the user is asked.
		w.id, w.secret = a.str("client_id"), a.str("client_secret")
		page := w.browser.get(w.query("scope", "openid"))
		code := w.browser.decide(page.consent(), "allow").redirected(callback).Get("code")
		w.basic("get_token", w.id, w.secret, "grant_type", "authorization_code", "code", code, "redirect_uri", callback).ok()

		for _, with := range []map[string]any{
			{"redirect_uris": []string{"http://127.0.0.1/cb"}}, {"redirect_uris": []string{"http://localhost:8000/cb", "http://[::1]/"}},
			{"redirect_uris": []string{"com.example.app:/cb"}}, {"client_name": nil}, {"client_name": " "}, {"token_endpoint_auth_method": "none"}, {"grant_types": []string{"authorization_code"}},
			{"response_types": []string{"code"}}, {"id_token_signed_response_alg": "RS256"}, {"jwks_uri": "https://client.example/jwks", "unknown": 1},
		} {
			if a := register(with); a.status != http.StatusCreated || a.json["client_secret"] == nil {
				t.Errorf("%v: %d %s", with, a.status, a.text)
			}
		}
		for _, with := range []map[string]any{
			{"redirect_uris": nil}, {"redirect_uris": []string{}}, {"redirect_uris": []string{"http://client.example/cb"}},
			{"redirect_uris": []string{"https://client.example/cb#f"}}, {"redirect_uris": []string{"javascript:alert(1)"}}, {"redirect_uris": []string{"/cb"}},
			{"redirect_uris": []string{"https://a.example/ https://b.example/"}}, {"redirect_uris": []string{"https://evil@client.example/cb"}},
		} {
			if a := register(with); a.status != 400 || a.json["error"] != "invalid_redirect_uri" {
				t.Errorf("%v: %d %s", with, a.status, a.text)
			}
		}
		for _, with := range []map[string]any{
			{"client_name": strings.Repeat("x", 141)}, {"token_endpoint_auth_method": "private_key_jwt"},
			{"grant_types": []string{"password"}}, {"response_types": []string{"token"}}, {"id_token_signed_response_alg": "none"},
			{"scope": "a\"b"}, {"logo_uri": "javascript:alert(1)"}, {"redirect_uris": callback}, {"client_name": 7}, {"software_id": "a\u0000"},
		} {
			if a := register(with); a.status != 400 || a.json["error"] != "invalid_client_metadata" {
				t.Errorf("%v: %d %s", with, a.status, a.text)
			}
		}
		for _, body := range []string{"", "[]", "null", "{", `"x"`} {
			b := w.guest()
			r := b.request(http.MethodPost, prefix+"register_client", []byte(body))
			r.Header.Set("Content-Type", "application/json")
			b.do(r).is(400, "invalid_client_metadata")
		}
		w.settings(map[string]any{"registrations_per_hour": 1})
		for i, want := range []int{http.StatusCreated, http.StatusTooManyRequests} {
			if a := register(nil); i == 1 && a.status != want {
				t.Errorf("registration %d: %d", i, a.status)
			}
		}
	})
}

// TestRegistrationsOfANetwork: whoever has an IPv6 network has all of its
// addresses, and registers no more with them than with one.
func TestRegistrationsOfANetwork(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.settings(map[string]any{"registrations_per_hour": 1})
		behind := *w
		behind.Server = w.Trusting(t)
		for _, from := range []struct {
			address string
			status  int
		}{
			{"2001:db8::1", http.StatusCreated}, {"2001:db8::2", http.StatusTooManyRequests}, {"2001:db8:0:1::1", http.StatusCreated},
		} {
			b := behind.guest()
			r := b.request(http.MethodPost, prefix+"register_client", []byte(`{"client_name":"App","redirect_uris":["`+callback+`"]}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Forwarded-For", from.address)
			if a := b.do(r); a.status != from.status {
				t.Errorf("%s: %d %s", from.address, a.status, a.text)
			}
		}
	})
}

// TestOrigins: pages of the origins that the settings name may call what programs
// call; metadata is for all pages; the consent is for none.
func TestOrigins(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		const page = "https://app.example"
		allowed := func(verb, path string) string {
			b := w.guest()
			r := b.request(verb, path, nil)
			r.Header.Set("Origin", page)
			r.Header.Set("Access-Control-Request-Method", "POST")
			a := b.do(r)
			if a.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s lets cookies in", path)
			}
			return a.header.Get("Access-Control-Allow-Origin")
		}
		programs := []string{"get_token", "revoke_token", "introspect_token", "openid_profile", "register_client"}
		for _, verb := range []string{http.MethodOptions, http.MethodPost} {
			for _, name := range programs {
				if got := allowed(verb, prefix+name); got != "" {
					t.Errorf("%s %s lets %q in before anybody has said so", verb, name, got)
				}
			}
		}
		w.settings(map[string]any{"allowed_public_client_origins": "https://other.example\n" + page})
		for _, verb := range []string{http.MethodOptions, http.MethodPost} {
			for _, name := range programs {
				if got := allowed(verb, prefix+name); got != page {
					t.Errorf("%s %s lets %q in", verb, name, got)
				}
			}
			for _, name := range []string{"authorize", "approve"} {
				if got := allowed(verb, prefix+name); got != "" {
					t.Errorf("%s %s lets %q in", verb, name, got)
				}
			}
		}
		for _, path := range []string{"openid-configuration", "oauth-authorization-server", "oauth-protected-resource", "jwks.json"} {
			if got := allowed(http.MethodGet, "/.well-known/"+path); got != page {
				t.Errorf("%s lets %q in", path, got)
			}
		}
	})
}
