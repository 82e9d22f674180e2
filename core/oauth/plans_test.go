package oauth_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// plansPage says for each module of the certification plans which test stands for it.
const plansPage = "PLANS.md"

// modules are those of the plans, so that no row gets lost: Basic, Config, Dynamic, RP-initiated
// logout of the OpenID Foundation's conformance suite.
var modules = strings.Fields(`
oidcc-server oidcc-response-type-missing oidcc-idtoken-signature oidcc-idtoken-unsigned oidcc-userinfo-get oidcc-userinfo-post-header oidcc-userinfo-post-body
oidcc-ensure-request-without-nonce-succeeds-for-code-flow oidcc-scope-profile oidcc-scope-email oidcc-scope-address oidcc-scope-phone oidcc-scope-all
oidcc-ensure-other-scope-order-succeeds oidcc-display-page oidcc-display-popup oidcc-prompt-login oidcc-prompt-none-not-logged-in oidcc-prompt-none-logged-in
oidcc-max-age-1 oidcc-max-age-10000 oidcc-ensure-request-with-unknown-parameter-succeeds oidcc-id-token-hint oidcc-login-hint oidcc-ui-locales oidcc-claims-locales
oidcc-ensure-request-with-acr-values-succeeds oidcc-codereuse oidcc-codereuse-30seconds oidcc-ensure-registered-redirect-uri oidcc-ensure-post-request-succeeds
oidcc-server-client-secret-post oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported
oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported oidcc-claims-essential oidcc-ensure-request-object-with-redirect-uri oidcc-refresh-token
oidcc-ensure-request-with-valid-pkce-succeeds
oidcc-discovery-endpoint-verification
oidcc-idtoken-rs256 oidcc-userinfo-rs256 oidcc-ensure-redirect-uri-in-authorization-request oidcc-redirect-uri-query-OK oidcc-redirect-uri-query-mismatch
oidcc-redirect-uri-query-added oidcc-redirect-uri-regfrag oidcc-registration-logo-uri oidcc-registration-policy-uri oidcc-registration-tos-uri
oidcc-registration-jwks-uri oidcc-registration-sector-uri oidcc-registration-sector-bad oidcc-server-rotate-keys oidcc-refresh-token-rp-key-rotation
oidcc-request-uri-unsigned oidcc-request-uri-signed-rs256 oidcc-ensure-client-assertion-with-iss-aud-succeeds
oidcc-rp-initiated-logout-discovery-endpoint-verification oidcc-rp-initiated-logout oidcc-rp-initiated-logout-bad-post-logout-redirect-uri
oidcc-rp-initiated-logout-modified-id-token-hint oidcc-rp-initiated-logout-no-id-token-hint oidcc-rp-initiated-logout-no-params
oidcc-rp-initiated-logout-no-post-logout-redirect-uri oidcc-rp-initiated-logout-no-state oidcc-rp-initiated-logout-only-state
oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri oidcc-rp-initiated-logout-bad-id-token-hint`)

// TestPlansPage: each module has a row, and each test that a row names is there.
func TestPlansPage(t *testing.T) {
	text, err := os.ReadFile(plansPage)
	if err != nil {
		t.Fatal(err)
	}
	there := tests(t)
	rows := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`oidcc-") {
			continue
		}
		module := strings.Trim(strings.TrimSpace(cells[1]), "`")
		rows[module] = true
		if !slices.Contains(modules, module) {
			t.Errorf("%s is no module of the plans", module)
		}
		names := regexp.MustCompile(`Test\w+`).FindAllString(cells[4], -1)
		if len(names) == 0 {
			t.Errorf("%s has no test", module)
		}
		for _, name := range names {
			if !there[name] {
				t.Errorf("%s: there is no %s", module, name)
			}
		}
	}
	for _, module := range modules {
		if !rows[module] {
			t.Errorf("%s has no row", module)
		}
	}
}

// tests are those of this folder and of the clients below it.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "clients/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
					found[f.Name.Name] = true
				}
			}
		}
	}
	return found
}

// TestPlanRequests: what the Basic plan sends along with a request that succeeds all the
// same, and what the ID token and userinfo say then.
func TestPlanRequests(t *testing.T) {
	each(t, map[string]any{"scopes": "openid"}, func(t *testing.T, w *world) {
		for _, tt := range []struct {
			name  string
			pairs []string
		}{
			{"without a nonce", nil},
			{"profile", []string{"scope", "openid profile"}}, {"email", []string{"scope", "openid email"}}, {"address", []string{"scope", "openid address"}},
			{"phone", []string{"scope", "openid phone"}}, {"all", []string{"scope", "openid profile email address phone"}},
			{"another order", []string{"scope", "email openid"}}, {"offline", []string{"scope", "openid offline_access"}},
			{"page", []string{"display", "page"}}, {"popup", []string{"display", "popup"}}, {"locales", []string{"ui_locales", "sv se"}},
			{"locales of claims", []string{"claims_locales", "sv"}}, {"acr", []string{"acr_values", "1 2"}},
			{"essential claim", []string{"claims", `{"userinfo":{"name":{"essential":true}}}`}}, {"unknown", []string{"extra", "foobar"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				w := w.on(t)
				got := w.redeem(w.code(append([]string{"scope", "openid"}, tt.pairs...)...)).ok()
				if got.str("scope") != "openid" {
					t.Errorf("granted %q", got.str("scope"))
				}
				id := claims(t, got.str("id_token"), w.secret)
				if _, nonce := id["nonce"]; nonce || id["sub"] == "" || id["name"] == "" {
					t.Errorf("ID token %v", id)
				}
				for _, verb := range []string{http.MethodGet, http.MethodPost} {
					user := w.bearer(got.str("access_token"), verb, prefix+"openid_profile", "").ok()
					if user.json["sub"] != id["sub"] || user.json["name"] == "" || user.json["email"] == "" {
						t.Errorf("userinfo by %s: %s", verb, user.text)
					}
				}
				// The token is taken from the header alone (RFC 6750 section 2.2 is a MAY).
				if a := w.form("openid_profile", "access_token", got.str("access_token")); a.status != http.StatusUnauthorized {
					t.Errorf("a token of the form: %d", a.status)
				}
			})
		}
		// Scopes of claims alone are no request for claims.
		if q := w.browser.get(w.query("scope", "profile")).redirected(callback); q.Get("error") != "invalid_scope" {
			t.Errorf("profile alone: %v", q)
		}
	})
}

// TestPlanRegistrations: what the Dynamic plan registers, and where redirect URIs have a
// query.
func TestPlanRegistrations(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		with := "https://client.example/cb?foo=bar"
		a := w.registerWith(map[string]any{
			"redirect_uris": []string{with}, "logo_uri": "https://client.example/logo.png", "policy_uri": "https://client.example/policy",
			"tos_uri": "https://client.example/tos", "scope": "openid", "token_endpoint_auth_method": "client_secret_post",
		})
		for key, want := range map[string]string{"policy_uri": "https://client.example/policy", "tos_uri": "https://client.example/tos"} {
			if a.json[key] != want {
				t.Errorf("%s is %v", key, a.json[key])
			}
		}
		id := a.str("client_id")
		page := w.browser.get(w.query("client_id", id, "scope", "openid", "redirect_uri", with))
		for _, part := range []string{"https://client.example/policy", "https://client.example/tos"} {
			if !strings.Contains(page.text, part) {
				t.Errorf("the consent page does not lead to %s", part)
			}
		}
		back := w.browser.decide(page.consent(), "allow")
		to, err := url.Parse(back.location)
		if err != nil || to.Query().Get("foo") != "bar" || to.Query().Get("code") == "" {
			t.Errorf("back to %q", back.location)
		}
		for _, other := range []string{"https://client.example/cb", "https://client.example/cb?foo=other", with + "&more=1"} {
			if a := w.browser.get(w.query("client_id", id, "scope", "openid", "redirect_uri", other)); a.status != 400 || a.location != "" {
				t.Errorf("%s: %d to %q", other, a.status, a.location)
			}
		}
	})
}

// TestPlanLogouts: the requests of the logout plan that lead nowhere, or somewhere.
func TestPlanLogouts(t *testing.T) {
	each(t, map[string]any{"post_logout_redirect_uris": goodbye}, func(t *testing.T, w *world) {
		if doc := w.Guest.On(t).Get("/.well-known/openid-configuration").OK(t).Body; doc["end_session_endpoint"] != w.URL+prefix+"end_session" {
			t.Errorf("the endpoint is %v", doc["end_session_endpoint"])
		}
		fresh := func() (*browser, string) {
			w.browser = w.login("Administrator", password)
			return w.browser, w.redeem(w.code()).ok().str("id_token")
		}
		b, hint := fresh()
		// The user is asked where nobody has shown whose wish it is, and sent nowhere after.
		for _, pairs := range [][]string{nil, {"state", "s"}} {
			form := b.get(endSession(pairs...)).consent()
			if !b.in() {
				t.Errorf("%v: logged out unasked", pairs)
			}
			if out := b.decide(form, "logout"); out.location != "/login?logged-out=1" || b.in() {
				t.Errorf("%v: to %q", pairs, out.location)
			}
			b, hint = fresh()
		}
		if a := b.get(endSession("id_token_hint", hint)); a.location != "/login?logged-out=1" || b.in() {
			t.Errorf("without an address: to %q", a.location)
		}
		b, hint = fresh()
		if a := b.get(endSession("id_token_hint", hint, "post_logout_redirect_uri", goodbye)); a.location != goodbye || b.in() {
			t.Errorf("without a state: to %q", a.location)
		}
		b, hint = fresh()
		head, rest, _ := strings.Cut(hint, ".")
		body, signature, _ := strings.Cut(rest, ".")
		for name, bad := range map[string][]string{
			"another address":        {"id_token_hint", hint, "post_logout_redirect_uri", "https://client.example/other"},
			"a query added":          {"id_token_hint", hint, "post_logout_redirect_uri", goodbye + "?foo=bar"},
			"a changed token":        {"id_token_hint", head + "." + body + "." + strings.ToLower(signature), "post_logout_redirect_uri", goodbye},
			"a token of nobody's":    {"id_token_hint", head + "." + body + ".", "post_logout_redirect_uri", goodbye},
			"an address and no hint": {"post_logout_redirect_uri", goodbye, "state", "s"},
		} {
			if a := b.get(endSession(bad...)); a.status != 400 || a.location != "" || !b.in() {
				t.Errorf("%s: %d to %q, in: %v", name, a.status, a.location, b.in())
			}
		}
	})
}
