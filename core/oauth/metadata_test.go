package oauth_test

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/egress"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// publisher is a host at which clients publish their metadata.
type publisher struct {
	*httptest.Server
	asked atomic.Int64
	mu    sync.Mutex
	serve http.HandlerFunc
}

func (p *publisher) answer(serve http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serve = serve
}

// publishing is a world whose sites may fetch from one publisher, and from no other
// host of this machine.
func publishing(t *testing.T, test func(t *testing.T, w *world, p *publisher)) {
	t.Helper()
	p := &publisher{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		p.mu.Lock()
		serve := p.serve
		p.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(p.Close)
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, nil)
		w.configure("allowed_private_hosts", []string{p.Listener.Addr().String()})
		test(t, w, p)
	}, func(c *sites.Config) { c.Egress = egress.New(egress.Config{RootCAs: roots}) })
}

// configure sets a setting of the site, as the command line does.
func (w *world) configure(key string, value any) {
	w.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		w.t.Fatal(err)
	}
	config, err := w.Tenant.Site.Config().With(key, text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Tenant.Site.SetConfig(config)
}

// published is metadata that can be used; pairs change it, nil takes a value out.
func published(id string, pairs ...any) map[string]any {
	m := map[string]any{"client_id": id, "client_name": "Sync", "redirect_uris": []string{callback, "http://127.0.0.1/cb"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if m[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
			delete(m, pairs[i].(string))
		}
	}
	return m
}

func (p *publisher) publish(doc any) {
	p.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(doc)
	})
}

// asks is the request for authorization of a client that an address names.
func (w *world) asks(id string, pairs ...string) string {
	return w.query(append([]string{"client_id", id, "scope", "openid", "code_challenge", s256, "code_challenge_method", "S256"}, pairs...)...)
}

// TestMetadataDocuments: a client that is nowhere registered goes the whole way.
func TestMetadataDocuments(t *testing.T) {
	publishing(t, func(t *testing.T, w *world, p *publisher) {
		id := p.URL + "/client.json"
		p.publish(published(id, "policy_uri", "https://client.example/privacy"))
		before := p.asked.Load()
		page := w.browser.get(w.asks(id)).ok()
		host := strings.TrimPrefix(p.URL, "https://")
		for _, want := range []string{"described by <strong><bdi>" + host, "Nobody here has checked it", "Sync", "https://client.example/privacy"} {
			if !strings.Contains(page.text, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		to := w.browser.decide(page.consent(), "allow").redirected(callback)
		redeem := []string{"grant_type", "authorization_code", "code", to.Get("code"), "redirect_uri", callback, "client_id", id}
		w.form("get_token", append(redeem, "code_verifier", strings.Repeat("x", 43))...).is(400, "invalid_grant")
		page = w.browser.get(w.asks(id)).ok()
		to = w.browser.decide(page.consent(), "allow").redirected(callback)
		redeem[3] = to.Get("code")
		tokens := w.form("get_token", append(redeem, "code_verifier", verifier)...).ok()
		if n := p.asked.Load() - before; n != 1 {
			t.Errorf("fetched %d times", n)
		}

		// Its host may be away: tokens are refreshed all the same.
		p.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		again := w.form("get_token", "grant_type", "refresh_token", "refresh_token", tokens.str("refresh_token"), "client_id", id).ok()
		profile := w.bearer(again.str("access_token"), "GET", prefix+"openid_profile", "").ok()
		if profile.str("sub") == "" {
			t.Errorf("profile %s", profile.text)
		}
		if apps := w.browser.get("/app/authorized-apps").ok(); !strings.Contains(apps.text, host) {
			t.Error("the list of applications does not name it")
		}

		// The switch ends it, tokens too.
		w.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", map[string]any{"enable_client_id_metadata_documents": 0}).OK(t)
		if w.works(again.str("access_token")) {
			t.Error("a token works after the setting was turned off")
		}
		if a := w.browser.get(w.asks(id)); a.status != 400 {
			t.Errorf("turned off: %d %s", a.status, a.text)
		}
	})
}

// TestMetadataOfScopes: nobody is given everything without saying so.
func TestMetadataOfScopes(t *testing.T) {
	publishing(t, func(t *testing.T, w *world, p *publisher) {
		tests := []struct{ declared, asked, want string }{
			{"", "", "openid"},
			{"", "resource:ToDo:read", "resource:ToDo:read"},
			{"", "all", ""},
			{"openid", "resource:ToDo:read", ""},
			{"all openid", "all", "all"},
			{"all openid", "", "all openid"},
		}
		for i, tt := range tests {
			id := p.URL + "/" + string(rune('a'+i))
			p.publish(published(id, "scope", tt.declared))
			a := w.browser.get(w.asks(id, "scope", tt.asked))
			if tt.want == "" {
				if a.status != http.StatusBadRequest || !strings.Contains(a.text, "invalid_scope") {
					t.Errorf("%+v: %d %s", tt, a.status, a.text)
				}
				continue
			}
			code := w.browser.decide(a.consent(), "allow").redirected(callback).Get("code")
			got := w.form("get_token", "grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", id, "code_verifier", verifier).ok()
			if got.str("scope") != tt.want {
				t.Errorf("%+v: got %q", tt, got.str("scope"))
			}
		}
	})
}

// TestMetadataRefused: what an attacker would publish.
func TestMetadataRefused(t *testing.T) {
	publishing(t, func(t *testing.T, w *world, p *publisher) {
		w.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", map[string]any{"registrations_per_hour": 0}).OK(t)
		id := p.URL + "/client.json"
		refused := func(name, id string) {
			t.Helper()
			a := w.browser.get(w.asks(id))
			if a.status != http.StatusBadRequest || a.location != "" || strings.Contains(a.text, "<form") {
				t.Errorf("%s: %d to %q %s", name, a.status, a.location, a.text)
			}
		}
		for name, doc := range map[string]any{
			"another id":         published(id + "2"),
			"no id":              published(id, "client_id", nil),
			"an id in capitals":  published(strings.ToUpper(id)),
			"no redirect URIs":   published(id, "redirect_uris", nil),
			"redirect in clear":  published(id, "redirect_uris", []string{callback, "http://client.example/cb"}),
			"redirect to script": published(id, "redirect_uris", []string{callback, "javascript:alert(1)"}),
			"a secret":           published(id, "client_secret", "s"),
			"a secret that ends": published(id, "client_secret_expires_at", 0),
			"secret by Basic":    published(id, "token_endpoint_auth_method", "client_secret_basic"),
			"a key":              published(id, "token_endpoint_auth_method", "private_key_jwt"),
			"HS256":              published(id, "id_token_signed_response_alg", "HS256"),
			"another flow":       published(id, "grant_types", []string{"client_credentials"}),
			"policy is a script": published(id, "policy_uri", "javascript:alert(1)"),
			"a list":             []any{published(id)},
			"too large":          published(id, "note", strings.Repeat("x", 20_000)),
		} {
			p.publish(doc)
			refused(name, id)
		}
		valid, err := json.Marshal(published(id))
		if err != nil {
			t.Fatal(err)
		}
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			t.Error("a redirect was followed")
			w.WriteHeader(http.StatusTeapot)
		}))
		defer other.Close()
		for name, answer := range map[string]http.HandlerFunc{
			"HTML": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write(valid)
			},
			"no type": func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				_, _ = w.Write(valid)
			},
			"created": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write(valid)
			},
			"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
			"redirect to itself": func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery == "" {
					http.Redirect(w, r, r.URL.Path+"?x", http.StatusMovedPermanently)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(valid)
			},
			"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			p.answer(answer)
			refused(name, id)
		}
		asked := p.asked.Load()
		for name, id := range map[string]string{
			"http":             strings.Replace(id, "https", "http", 1),
			"no path":          p.URL,
			"fragment":         id + "#x",
			"user":             strings.Replace(id, "//", "//a@", 1),
			"dots":             p.URL + "/a/../client.json",
			"encoded dots":     p.URL + "/a/%2e%2e/client.json",
			"too long":         id + strings.Repeat("x", 140),
			"space":            id + " ",
			"not a host":       "https:///client.json",
			"a forbidden host": "https://169.254.169.254/latest",
			"of this machine":  "https://localhost:1/client.json",
			"this site":        strings.Replace(w.URL, "http:", "https:", 1) + "/files/client.json",
		} {
			refused(name, id)
		}
		if n := p.asked.Load() - asked; n != 0 {
			t.Errorf("%d of them were fetched", n)
		}
		p.publish(published(id))
		w.browser.get(w.asks(id)).ok() // after all that, the right one is taken
		p.publish(published(id+"3", "redirect_uris", []string{"https://other.example/cb"}))
		refused("another redirect URI", id+"3")
	})
}

// TestMetadataIsFetchedForUsers: without a login nothing makes the server ask, at
// no endpoint, and one address cannot make it ask without end.
func TestMetadataIsFetchedForUsers(t *testing.T) {
	publishing(t, func(t *testing.T, w *world, p *publisher) {
		id, before := p.URL+"/client.json", p.asked.Load()
		p.publish(published(id))
		guest := w.guest()
		if a := guest.get(w.asks(id)); !strings.HasPrefix(a.location, "/login?") {
			t.Errorf("a guest is at %q", a.location)
		}
		if a := guest.get(w.asks(id, "prompt", "none")); a.status != 400 || a.location != "" {
			t.Errorf("a guest with prompt=none: %d %q", a.status, a.location)
		}
		guest.get("/login?redirect-to=" + url.QueryEscape(w.asks(id))).ok()
		w.form("get_token", "grant_type", "authorization_code", "code", "x", "client_id", id, "code_verifier", verifier).is(400, "invalid_grant")
		w.form("revoke_token", "token", "x", "client_id", id).ok()
		w.form("introspect_token", "token", "x", "client_id", id).is(401, "invalid_client")
		if n := p.asked.Load() - before; n != 0 {
			t.Errorf("fetched %d times for nobody", n)
		}
		w.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", map[string]any{"registrations_per_hour": 3}).OK(t)
		refused := 0
		for i := range 6 {
			if a := w.browser.get(w.asks(p.URL + "/missing" + string(rune('0'+i)))); a.status == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused != 3 {
			t.Errorf("%d of 6 were one too many, want 3", refused)
		}
	})
}

// TestMetadataRedirects: a native application listens at any port of the device,
// and nothing else may differ.
func TestMetadataRedirects(t *testing.T) {
	publishing(t, func(t *testing.T, w *world, p *publisher) {
		id := p.URL + "/client.json"
		p.publish(published(id, "redirect_uris", []string{"http://127.0.0.1/cb", "http://localhost:3000/cb?a=1", "https://client.example/cb"}))
		for uri, ok := range map[string]bool{
			"http://127.0.0.1/cb": true, "http://127.0.0.1:51234/cb": true, "http://localhost:9/cb?a=1": true, "http://localhost/cb?a=1": true,
			"http://127.0.0.1:51234/cb2": false, "http://127.0.0.2:51234/cb": false, "http://localhost:9/cb": false,
			"https://127.0.0.1:51234/cb": false, "https://client.example:8443/cb": false, "http://127.0.0.1:51234@evil.example/cb": false,
			"http://127.0.0.1:51234/cb#x": false, "http://127.0.0.1.evil.example/cb": false, "http://127.0.0.1:x/cb": false,
		} {
			a := w.browser.get(w.asks(id, "redirect_uri", uri))
			if got := a.status == http.StatusOK; got != ok {
				t.Errorf("%s: %d", uri, a.status)
			}
			if ok && w.browser.decide(a.consent(), "allow").redirected(strings.SplitN(uri, "?", 2)[0]).Get("code") == "" {
				t.Errorf("%s: no code", uri)
			}
		}
		if a := w.browser.get(w.asks(id, "redirect_uri", "")); a.status != http.StatusBadRequest {
			t.Errorf("one of three was chosen: %d", a.status)
		}
	})
}

// TestMetadataIsAdvertised tells clients that they need not register.
func TestMetadataIsAdvertised(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		for _, want := range []bool{true, false} {
			s.Admin.On(t).Put("/api/resource/OAuth%20Settings/OAuth%20Settings", map[string]any{"enable_client_id_metadata_documents": want}).OK(t)
			for _, path := range []string{"openid-configuration", "oauth-authorization-server"} {
				if got := s.Guest.On(t).Get("/.well-known/" + path).OK(t).Body["client_id_metadata_document_supported"]; got != want {
					t.Errorf("%s: %v, want %v", path, got, want)
				}
			}
		}
	})
}
