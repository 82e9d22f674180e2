package social_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// providerFolder has the OpenID-certified provider of npm, which the tests of Connected
// Apps use, too.
const providerFolder = "../connectedapp/oidcprovider"

// TestOIDCProvider logs in with a provider that is nobody's test double: with PKCE, a
// nonce, an issuer in its answer (RFC 9207), claims at userinfo and a class that is asked
// for.
func TestOIDCProvider(t *testing.T) {
	installProvider(t)
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		port := freePort(t)
		issuer := fmt.Sprintf("http://127.0.0.1:%d", port)
		w := &world{Server: s, t: t, p: &provider{Server: &httptest.Server{}}}
		s.Configure(t, "allowed_private_hosts", fmt.Sprintf(`["127.0.0.1:%d"]`, port))
		s.Configure(t, "require_second_factor", "true")
		s.Admin.Post("/api/resource/Role", map[string]any{"role_name": "Staff"}).OK(t)
		w.key("Example", map[string]any{
			"openid_configuration": issuer + "/.well-known/openid-configuration", "sign_ups": "Allowed Domains", "allowed_domains": "example.com",
			"second_factor": "acr:urn:two", "roles_claim": "groups", "roles": []any{map[string]any{"claim_value": "staff", "role": "Staff"}},
		})
		runProvider(t, port, s.URL+"/login/with/Example")
		for range 2 { // once as somebody new, once as somebody known
			b := w.browser()
			leave := b.post("/login/with", "provider", "Example", "redirect-to", "/app/accounts")
			if leave.status != http.StatusSeeOther || !strings.HasPrefix(leave.location, issuer) {
				t.Fatalf("got %d to %q: %s", leave.status, leave.location, leave.text)
			}
			back := w.atProvider(leave.location)
			if !strings.Contains(back, "iss=") {
				t.Errorf("no issuer in %s", back)
			}
			b.get(back).leads("/app/accounts")
			b.get("/app/accounts").shows(200, "ada@example.com")
			b.get(back).shows(417, "not the answer")
		}
		if got := w.roles("ada@example.com"); got != "Staff" {
			t.Errorf("roles: %s", got)
		}
	})
}

// atProvider is the browser at the provider, up to the redirect back to the site. The two
// are on one host, where cookies know no ports: it has a jar of its own.
func (w *world) atProvider(address string) string {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	back := ""
	browser := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if rest, ok := strings.CutPrefix(r.URL.String(), w.URL); ok {
			back = rest
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	if back == "" {
		w.t.Fatalf("the provider did not lead back: %s", res.Status)
	}
	return back
}

// installProvider fetches the provider by npm, unless it is there.
func installProvider(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(providerFolder + "/node_modules/oidc-provider"); err == nil {
		return
	}
	missing := t.Skip
	if os.Getenv("CI") == "true" {
		missing = t.Fatal
	}
	if _, err := exec.LookPath("npm"); err != nil {
		missing("npm is not installed: oidc-provider is not tried")
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = providerFolder
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(fmt.Sprintf("npm ci: %v\n%s", err, out))
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// runProvider runs the provider until the test ends.
func runProvider(t *testing.T, port int, redirectURI string) {
	t.Helper()
	cmd := exec.Command("node", "server.mjs")
	cmd.Dir = providerFolder
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port), "CLIENT_ID="+clientID, "CLIENT_SECRET="+clientSecret,
		"REDIRECT_URI="+redirectURI, "ACCESS_TTL=3600")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			return
		}
	}
	t.Fatal("the provider has not begun to listen")
}

// TestAnotherSite: a user of one site of ours logs in at another.
func TestAnotherSite(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		database := ""
		if strings.HasSuffix(t.Name(), "/PostgreSQL") {
			database = sitetest.Postgres(t)
		}
		there := sitetest.New(t, database)
		w := &world{Server: s, t: t, p: &provider{Server: &httptest.Server{}}}
		s.Configure(t, "allowed_private_hosts", `["`+strings.TrimPrefix(there.URL, "http://")+`"]`)
		client := there.Admin.Post("/api/resource/OAuth Client", map[string]any{
			"app_name": "The other site", "scopes": "openid", "redirect_uris": s.URL + "/login/with/There", "default_redirect_uri": s.URL + "/login/with/There",
			"grant_type": "Authorization Code", "response_type": "Code", "skip_authorization": 1, "id_token_signed_response_alg": "RS256",
		}).Data(t)
		w.key("There", map[string]any{
			"openid_configuration": there.URL + "/.well-known/openid-configuration", "client_id": client["client_id"], "client_secret": client["client_secret"],
		})
		w.person("ada@example.com")
		at := (&world{Server: there, t: t}).browser()
		(&world{Server: there, t: t}).person("lovelace@example.org")
		at.login("lovelace@example.org")
		way := func(a *answer) string {
			t.Helper()
			asked, ok := strings.CutPrefix(a.location, there.URL)
			if a.status != http.StatusSeeOther || !ok {
				t.Fatalf("got %d to %q: %s", a.status, a.location, a.text)
			}
			res := at.get(asked)
			back, ok := strings.CutPrefix(res.location, s.URL)
			if !ok {
				t.Fatalf("the other site led to %q: %d %s", res.location, res.status, res.text)
			}
			return back
		}
		b := w.browser()
		b.get(way(b.post("/login/with", "provider", "There"))).shows(417, "nobody&#39;s here yet")
		b.login("ada@example.com")
		b.get(way(b.own("do", "connect", "provider", "There"))).leads("/app/accounts?done=added")
		other := w.browser()
		other.get(way(other.post("/login/with", "provider", "There"))).leads("/")
		if other.who() != "ada@example.com" {
			t.Errorf("logged in as %q", other.who())
		}
	})
}
