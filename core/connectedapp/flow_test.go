package connectedapp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

const methods = "/api/method/framework.integrations.doctype.connected_app.connected_app."

// world is a site with an app of a provider.
type world struct {
	*sitetest.Server
	provider *provider
	app      string
	user     *sitetest.Client // ada@example.com
	clock    *clock
}

type clock struct {
	mu   sync.Mutex
	past time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.past)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	c := &clock{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := &world{Server: s, provider: newProvider(t), clock: c}
		w.configure(t, "allowed_private_hosts", []string{w.provider.host()})
		w.app = s.Admin.Post("/api/resource/Connected App", map[string]any{
			"provider_name": "Example", "openid_configuration": w.provider.srv.URL + "/.well-known/openid-configuration",
			"client_id": clientID, "client_secret": clientSecret, "allowed_hosts": w.provider.host(),
			"scopes":           []any{map[string]any{"scope": "read"}, map[string]any{"scope": "write"}},
			"query_parameters": []any{map[string]any{"key": "access_type", "value": "offline"}},
		}).Data(t)["name"].(string)
		w.user = s.User(t, "ada@example.com")
		test(t, w)
	}, func(cfg *sites.Config) { cfg.Clock = c.now })
}

func (w *world) configure(t *testing.T, key string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	config, err := w.Tenant.Site.Config().With(key, text)
	if err != nil {
		t.Fatal(err)
	}
	w.Tenant.Site.SetConfig(config)
}

// begin starts a flow and returns where the browser has to go.
func (w *world) begin(t *testing.T, as *sitetest.Client, args map[string]any) *url.URL {
	t.Helper()
	body := map[string]any{"run_method": "initiate_web_application_flow"}
	for key, value := range args {
		body[key] = value
	}
	got := as.Post("/api/resource/Connected App/"+w.app, body).OK(t).Body["data"]
	text, _ := got.(string)
	u, err := url.Parse(text)
	if err != nil || text == "" {
		t.Fatalf("no address: %v", got)
	}
	return u
}

// visit follows the address to the provider and returns the way back, a path.
func (w *world) visit(t *testing.T, u *url.URL) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	back, ok := strings.CutPrefix(res.Header.Get("Location"), w.URL)
	if !ok {
		t.Fatalf("the provider leads to %q", res.Header.Get("Location"))
	}
	return back
}

// connect goes the whole way.
func (w *world) connect(t *testing.T) {
	t.Helper()
	back := w.visit(t, w.begin(t, w.user, nil))
	if r := w.user.Get(back); r.Status != http.StatusFound {
		t.Fatalf("the way back: %d %s", r.Status, r.Text)
	}
}

// do makes a request with the user's token.
func (w *world) do(asApp bool, path string) (*egress.Response, error) {
	return w.doIn(context.Background(), asApp, path)
}

func (w *world) doIn(ctx context.Context, asApp bool, path string) (*egress.Response, error) {
	return w.Tenant.Connected.Do(ctx, w.caller(), w.request(asApp, path))
}

func (w *world) request(asApp bool, path string) connectedapp.Request {
	return connectedapp.Request{App: w.app, AsApp: asApp, Request: egress.Request{URL: w.provider.srv.URL + path}}
}

func (w *world) caller() *identity.Caller {
	return &identity.Caller{User: "ada@example.com", Roles: []string{identity.All, identity.Guest}}
}

func TestConnect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		app := w.Admin.Get("/api/resource/Connected App/" + w.app).Data(t)
		if app["redirect_uri"] != w.URL+methods+"callback/"+w.app {
			t.Errorf("redirect_uri is %v", app["redirect_uri"])
		}
		u := w.begin(t, w.user, map[string]any{"success_uri": "/app?done=1"})
		q := u.Query()
		for key, want := range map[string]string{
			"client_id": clientID, "response_type": "code", "scope": "read write", "access_type": "offline",
			"redirect_uri": app["redirect_uri"].(string), "code_challenge_method": "S256",
		} {
			if q.Get(key) != want {
				t.Errorf("%s is %q, not %q", key, q.Get(key), want)
			}
		}
		if got := w.user.Get(methods+"has_token", "connected_app", w.app).Message(t); got != false {
			t.Errorf("has_token before: %v", got)
		}
		back := w.visit(t, u)
		r := w.user.Get(back)
		if r.Status != http.StatusFound || r.Header.Get("Location") != "/app?done=1" {
			t.Fatalf("the way back: %d to %q: %s", r.Status, r.Header.Get("Location"), r.Text)
		}
		if got := w.user.Get(methods+"has_token", "connected_app", w.app).Message(t); got != true {
			t.Errorf("has_token after: %v", got)
		}
		w.user.Get(back).Fails(t, 417, "ValidationError") // a state is good once

		cache := w.user.Get("/api/resource/Token Cache/" + w.app + "-ada@example.com").Data(t)
		if cache["status"] != "Active" || cache["provider_name"] != "Example" || cache["token_type"] != "Bearer" {
			t.Errorf("the connection is %v", cache)
		}
		if n := len(cache["scopes"].([]any)); n != 2 {
			t.Errorf("%d scopes", n)
		}
		answer, err := w.do(false, "/api/me")
		if err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
	})
}

// TestNobodySeesTokens tries every way to a secret, as the one who may most.
func TestNobodySeesTokens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		cache := w.app + "-ada@example.com"
		for _, path := range []string{
			"/api/resource/Token Cache/" + cache, "/api/resource/Connected App/" + w.app,
			"/api/resource/Token Cache?fields=" + url.QueryEscape(`["*"]`), "/api/resource/Connected App?fields=" + url.QueryEscape(`["*"]`),
			"/api/resource/Version?limit=0&fields=" + url.QueryEscape(`["*"]`),
		} {
			text := w.Admin.Get(path).OK(t).Text
			for _, secret := range []string{clientSecret, "access-", "refresh-", `"v1.`} {
				if strings.Contains(text, secret) {
					t.Errorf("%s shows %q: %s", path, secret, text)
				}
			}
		}
		for _, field := range [][3]string{
			{"Token Cache", cache, "access_token"}, {"Token Cache", cache, "refresh_token"}, {"Connected App", w.app, "client_secret"},
		} {
			r := w.Admin.Get("/api/method/framework.client.get_password", "doctype", field[0], "name", field[1], "fieldname", field[2])
			r.Fails(t, 404, "DoesNotExistError")
		}
		w.Admin.Get("/api/resource/Token Cache", "fields", []string{"access_token"}).Fails(t, 417, "DataError")
		w.Admin.Put("/api/resource/Token Cache/"+cache, map[string]any{"success_uri": "/x"}).Fails(t, 403, "PermissionError")
		w.Admin.Post("/api/resource/Token Cache", map[string]any{"user": "ada@example.com"}).Fails(t, 403, "PermissionError")
		other := w.User(t, "eve@example.com")
		other.Get("/api/resource/Token Cache/"+cache).Fails(t, 403, "PermissionError")
		// A change of something else leaves the secret what it was.
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"provider_name": "Renamed", "client_secret": "**********"}).OK(t)
		w.clock.pass(2 * time.Hour)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Errorf("after a change of the app: %v %v", answer, err)
		}
	})
}

func TestCallbackRefuses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		back := func(change func(q url.Values)) string {
			path := w.visit(t, w.begin(t, w.user, nil))
			u, err := url.Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			change(q)
			u.RawQuery = q.Encode()
			return u.String()
		}
		tests := map[string]func(q url.Values){
			"another state":    func(q url.Values) { q.Set("state", "guessed") },
			"no state":         func(q url.Values) { q.Del("state") },
			"no code":          func(q url.Values) { q.Del("code") },
			"two codes":        func(q url.Values) { q.Add("code", "x") },
			"another issuer":   func(q url.Values) { q.Set("iss", "https://evil.example") },
			"no issuer":        func(q url.Values) { q.Del("iss") },
			"an invented code": func(q url.Values) { q.Set("code", "invented") },
			"an error": func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "<b>no</b>")
			},
		}
		for name, change := range tests {
			t.Run(name, func(t *testing.T) {
				r := w.user.On(t).Get(back(change)).Fails(t, 417, "ValidationError")
				if strings.Contains(r.Told(t), "<b>") {
					t.Errorf("markup of the provider is passed on: %s", r.Told(t))
				}
			})
		}
		t.Run("another user", func(t *testing.T) {
			w.User(t, "eve@example.com").Get(back(func(url.Values) {})).Fails(t, 417, "ValidationError")
		})
		t.Run("another app", func(t *testing.T) {
			path := back(func(url.Values) {})
			w.user.On(t).Get(strings.Replace(path, w.app, "another", 1)).Fails(t, 417, "ValidationError")
		})
		t.Run("too late", func(t *testing.T) {
			path := back(func(url.Values) {})
			w.clock.pass(16 * time.Minute)
			w.user.On(t).Get(path).Fails(t, 417, "ValidationError")
		})
		t.Run("Guest logs in first", func(t *testing.T) {
			path := back(func(url.Values) {})
			r := w.Guest.On(t).Get(path)
			if to := r.Header.Get("Location"); r.Status != http.StatusFound || to != "/login?redirect-to="+url.QueryEscape(path) {
				t.Errorf("%d to %q", r.Status, to)
			}
		})
		t.Run("no app in the path", func(t *testing.T) {
			w.user.On(t).Get(methods+"callback?state=x&code=y").Fails(t, 417, "ValidationError")
		})
		if got := w.user.Get(methods+"has_token", "connected_app", w.app).Message(t); got != false {
			t.Errorf("one of them has made a connection")
		}
	})
}

// TestIssuerOfOwnEndpoints: the answer of another provider is refused also where
// the app has all endpoints in its own fields.
func TestIssuerOfOwnEndpoints(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ownEndpoints(t, w.provider.srv.URL+"/.well-known/openid-configuration")
		back := w.visit(t, w.begin(t, w.user, nil))
		w.user.On(t).Get(strings.Replace(back, url.QueryEscape(w.provider.srv.URL), url.QueryEscape("https://evil.example"), 1)).
			Fails(t, 417, "ValidationError")
		w.connect(t)
	})
}

func TestBeginRefuses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		begin := func(as *sitetest.Client, args map[string]any) *sitetest.Reply {
			args["run_method"] = "initiate_web_application_flow"
			return as.Post("/api/resource/Connected App/"+w.app, args)
		}
		for _, wish := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "/a\tb", "javascript:alert(1)"} {
			begin(w.user.On(t), map[string]any{"success_uri": wish}).Fails(t, 417, "ValidationError")
		}
		begin(w.user, map[string]any{"user": "Administrator"}).Fails(t, 403, "PermissionError")
		begin(w.Guest, map[string]any{}).Fails(t, 403, "PermissionError")
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"client_id": ""}).OK(t)
		begin(w.user, map[string]any{}).Fails(t, 417, "ValidationError")
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"client_id": clientID}).OK(t)
		w.configure(t, "allowed_private_hosts", []string{})
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"authorization_uri": "http://provider.example/a", "token_uri": "http://provider.example/t", "revocation_uri": "http://provider.example/r"}).OK(t)
		begin(w.user, map[string]any{}).Fails(t, 403, "PermissionError")
		for _, field := range []string{"openid_configuration", "token_uri"} {
			w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{field: "ftp://x"}).Fails(t, 417, "ValidationError")
		}
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"query_parameters": []any{map[string]any{"key": "redirect_uri", "value": "https://evil.example"}}}).Fails(t, 417, "ValidationError")
		w.user.Put("/api/resource/Connected App/"+w.app, map[string]any{"provider_name": "x"}).Fails(t, 403, "PermissionError")
	})
}

// TestNarrowedToken: a token that may read apps connects and ends nothing.
func TestNarrowedToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		narrow := w.caller()
		narrow.Scopes = []*scope.Set{scope.Token("resource:*:read")}
		connected := w.Tenant.Connected
		if _, err := connected.Begin(t.Context(), narrow, w.app, "", "", w.URL); excType(err) != "PermissionError" {
			t.Errorf("begin: %v", err)
		}
		if _, err := connected.End(t.Context(), narrow, w.app, ""); excType(err) != "PermissionError" {
			t.Errorf("end: %v", err)
		}
		if has, err := connected.Has(t.Context(), narrow, w.app, ""); err != nil || !has {
			t.Errorf("has: %v %v", has, err)
		}
		narrow.Scopes = []*scope.Set{scope.Token("resource:Connected%20App:write")}
		if _, err := connected.End(t.Context(), narrow, w.app, ""); err != nil {
			t.Errorf("end with the scope to write: %v", err)
		}
	})
}

// TestNames: two connections never share a name.
func TestNames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Admin.Post("/api/resource/Connected App", map[string]any{"name": "a-b", "provider_name": "X"}).Fails(t, 417, "ValidationError")
		w.user.Post("/api/resource/Connected App/"+w.app, map[string]any{"run_method": "get_openid_configuration"}).Fails(t, 403, "PermissionError")
	})
}

// TestRunDocMethod begins by the other door that clients use.
func TestRunDocMethod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		got := w.user.Post("/api/method/run_doc_method", map[string]any{
			"dt": "Connected App", "dn": w.app, "method": "initiate_web_application_flow", "args": map[string]any{"success_uri": "/x"},
		}).Message(t)
		if text, _ := got.(string); !strings.HasPrefix(text, w.provider.srv.URL+"/authorize?") {
			t.Errorf("got %v", got)
		}
		found := w.Admin.Post("/api/method/run_doc_method", map[string]any{"dt": "Connected App", "dn": w.app, "method": "get_openid_configuration"}).Message(t)
		if found.(map[string]any)["token_endpoint"] != w.provider.srv.URL+"/token" {
			t.Errorf("got %v", found)
		}
		w.provider.set(func() { w.provider.discover["issuer"] = "https://somebody.else" })
		w.Admin.Get("/api/resource/Connected App/"+w.app+"?run_method=get_openid_configuration").Fails(t, 503, "ServiceUnavailable")
	})
}

func TestEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		// A page of another site can lead a browser here by GET, cookie and all.
		w.user.Get("/api/resource/Connected App/"+w.app, "run_method", "revoke_token").Fails(t, 403, "PermissionError")
		w.user.Get("/api/method/run_doc_method", "dt", "Connected App", "dn", w.app, "method", "revoke_token").Fails(t, 403, "PermissionError")
		if _, err := w.do(false, "/api/me"); err != nil || w.provider.revoked.Load() != 0 {
			t.Fatalf("a GET ended the connection: %v, the provider has ended %d", err, w.provider.revoked.Load())
		}
		got := w.user.Post("/api/resource/Connected App/"+w.app, map[string]any{"run_method": "revoke_token"}).OK(t).Body["data"]
		if got.(map[string]any)["revoked"] != true || w.provider.revoked.Load() != 1 {
			t.Errorf("got %v, the provider has ended %d", got, w.provider.revoked.Load())
		}
		if _, err := w.do(false, "/api/me"); excType(err) != "NotConnectedError" {
			t.Errorf("a request after the end: %v", err)
		}
		w.connect(t)
		w.provider.srv.Close() // the provider is away: the connection ends here all the same
		got = w.user.Post("/api/resource/Connected App/"+w.app, map[string]any{"run_method": "revoke_token"}).OK(t).Body["data"]
		if got.(map[string]any)["revoked"] != false {
			t.Errorf("got %v", got)
		}
		if n := len(w.Admin.Get("/api/resource/Token Cache").List(t)); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

// TestGoneWithDocuments deletes what a connection belongs to.
func TestGoneWithDocuments(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.Admin.Delete("/api/resource/Token Cache/" + w.app + "-ada@example.com")
		w.connect(t)
		if r := w.Admin.Delete("/api/resource/Connected App/" + w.app); r.Status != http.StatusAccepted {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		if n := len(w.Admin.Get("/api/resource/Token Cache").List(t)); n != 0 {
			t.Errorf("%d connections outlive their app", n)
		}
	})
}

func excType(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).ExcType()
}

// stored reads a connection as it lies in the database.
func (w *world) stored(t *testing.T, user string) *doctype.Document {
	t.Helper()
	var doc *doctype.Document
	err := w.Tenant.Store.Read(t.Context(), func(tx document.Tx) (err error) {
		doc, err = w.Tenant.Documents.As(identity.Root(), tx).Get(t.Context(), "Token Cache", w.app+"-"+user)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
