package connectedapp_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"armature/core/connectedapp"
	"armature/core/egress"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// TestOIDCProvider connects to a provider that is nobody's test double: the
// OpenID-certified one of npm.
func TestOIDCProvider(t *testing.T) {
	install(t)
	c := &clock{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		port := freePort(t)
		issuer := fmt.Sprintf("http://127.0.0.1:%d", port)
		w := &world{Server: s, clock: c, user: s.User(t, "ada@example.com")}
		w.configure(t, "allowed_private_hosts", []string{fmt.Sprintf("127.0.0.1:%d", port)})
		app := s.Admin.Post("/api/resource/Connected App", map[string]any{
			"provider_name": "oidc-provider", "openid_configuration": issuer + "/.well-known/openid-configuration",
			"client_id": clientID, "client_secret": clientSecret, "allowed_hosts": fmt.Sprintf("127.0.0.1:%d", port),
			"scopes":           []any{map[string]any{"scope": "openid"}, map[string]any{"scope": "profile"}, map[string]any{"scope": "offline_access"}},
			"query_parameters": []any{map[string]any{"key": "prompt", "value": "consent"}},
		}).Data(t)
		w.app = app["name"].(string)
		stop := serve(t, port, app["redirect_uri"].(string))

		connect := func() {
			t.Helper()
			back := w.follow(t, w.begin(t, w.user, map[string]any{"success_uri": "/app?connected"}))
			if r := w.user.Get(back); r.Status != http.StatusFound || r.Header.Get("Location") != "/app?connected" {
				t.Fatalf("the way back: %d %s", r.Status, r.Text)
			}
		}
		me := func() (string, error) {
			answer, err := s.Tenant.Connected.Do(t.Context(), w.caller(), connectedapp.Request{App: w.app, Request: egress.Request{URL: issuer + "/me"}})
			if err != nil {
				return "", err
			}
			return string(answer.Body), nil
		}
		connect()
		if text, err := me(); err != nil || text != `{"sub":"ada","name":"Ada"}` {
			t.Fatalf("%s %v", text, err)
		}
		first := w.stored(t, "ada@example.com").Text("refresh_token")
		for range 3 { // each renewal uses the refresh token that the one before gave
			c.pass(2 * time.Hour)
			if text, err := me(); err != nil || !strings.Contains(text, `"ada"`) {
				t.Fatalf("renewed: %s %v", text, err)
			}
		}
		if w.stored(t, "ada@example.com").Text("refresh_token") == first {
			t.Error("the refresh token was not rotated")
		}
		answer, err := s.Tenant.Connected.Do(t.Context(), w.caller(), connectedapp.Request{App: w.app, AsApp: true, Request: egress.Request{URL: issuer + "/me"}})
		if err != nil || answer.Status == http.StatusOK || w.stored(t, "").Text("status") != "Active" {
			t.Errorf("the app's own token, which is for no user: %v %v", answer, err)
		}
		got := w.user.Post("/api/resource/Connected App/"+w.app, map[string]any{"run_method": "revoke_token"}).OK(t).Body["data"]
		if got.(map[string]any)["revoked"] != true {
			t.Errorf("ended: %v", got)
		}
		connect()

		stop() // while it is away, the token stays
		c.pass(2 * time.Hour)
		if _, err := me(); excType(err) != "ServiceUnavailable" {
			t.Errorf("the provider is away: %v", err)
		}
		stop = serve(t, port, app["redirect_uri"].(string)) // and it has forgotten everything
		defer stop()
		if _, err := me(); excType(err) != "ConnectionBrokenError" {
			t.Errorf("the provider has forgotten the connection: %v", err)
		}
		connect()
		if text, err := me(); err != nil || !strings.Contains(text, `"ada"`) {
			t.Errorf("connected anew: %s %v", text, err)
		}
	}, func(cfg *sites.Config) { cfg.Clock = c.now })
}

// install fetches the provider by npm, unless it is there.
func install(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("oidcprovider/node_modules/oidc-provider"); err == nil {
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
	cmd.Dir = "oidcprovider"
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

// serve runs the provider until stop is called or the test ends.
func serve(t *testing.T, port int, redirectURI string) (stop func()) {
	t.Helper()
	cmd := exec.Command("node", "server.mjs")
	cmd.Dir = "oidcprovider"
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
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = in.Close()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(stop)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			return stop
		}
	}
	t.Fatal("the provider has not begun to listen")
	return nil
}

// follow is a browser at the provider, up to the redirect back to the site.
func (w *world) follow(t *testing.T, u *url.URL) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	back := ""
	browser := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if rest, ok := strings.CutPrefix(r.URL.String(), w.URL); ok {
			back = rest
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.Get(u.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if back == "" {
		t.Fatalf("the provider did not lead back: %s", res.Status)
	}
	return back
}
