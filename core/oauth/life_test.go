package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
	"armature/core/scope"
	"armature/core/sites"
)

// TestWhatEndsTokens: a new password, a disabled user, a client that is deleted or
// changed, the user's or the administrator's wish; what has ended does not come back.
func TestWhatEndsTokens(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		const user = "u@example.com"
		w.User(t, user)
		w.password(user)
		session := func() { w.browser = w.login(user, password) }
		session()
		resource := func(doctype, name string) string {
			return "/api/resource/" + url.PathEscape(doctype) + "/" + url.PathEscape(name)
		}
		grantOf := func(access string) string {
			list := w.Admin.On(t).Get("/api/resource/OAuth%20Grant", "filters", `[["user","=","`+user+`"],["status","=","Active"]]`).Column(t, "name")
			if len(list) == 0 {
				t.Fatal("no grant")
			}
			return list[0].(string)
		}
		tests := []struct {
			name string
			end  func(access string)
			undo func()
			back bool // the token works again after undo
		}{
			{"a new password", func(string) { w.password(user) }, session, false},
			{"a new password from an administrator's form", func(string) {
				w.Admin.On(t).Put(resource("User", user), map[string]any{"new_password": password}).OK(t)
			}, session, false},
			{"a disabled user", func(string) { w.Admin.On(t).Put(resource("User", user), map[string]any{"enabled": 0}).OK(t) },
				func() { w.Admin.On(t).Put(resource("User", user), map[string]any{"enabled": 1}).OK(t); session() }, false},
			{"the administrator", func(access string) { w.Admin.On(t).Delete(resource("OAuth Grant", grantOf(access))) }, nil, false},
			{"the user", func(access string) {
				caller, err := w.Tenant.Auth.Caller(t.Context(), user)
				if err == nil {
					err = w.Tenant.OAuth.EndGrant(t.Context(), caller, grantOf(access))
				}
				if err != nil {
					t.Fatal(err)
				}
			}, nil, false},
			{"fewer scopes of the client", func(string) {
				w.Admin.On(t).Put(resource("OAuth Client", w.id), map[string]any{"scopes": "openid"}).OK(t)
			},
				func() {
					w.Admin.On(t).Put(resource("OAuth Client", w.id), map[string]any{"scopes": "all openid"}).OK(t)
				}, true},
			{"the client deleted", func(string) { w.Admin.On(t).Delete(resource("OAuth Client", w.id)) }, nil, false},
		}
		for _, tt := range tests {
			access, refresh := w.tokens()
			if !w.works(access) {
				t.Fatalf("%s: the token does not work before", tt.name)
			}
			tt.end(access)
			if w.works(access) {
				t.Errorf("%s: the token works", tt.name)
			}
			byAdmin := func(r *http.Request) { r.Header.Set("Authorization", w.Admin.Authorization) }
			if a := w.send("introspect_token", url.Values{"token": {access}}, byAdmin).ok(); a.text != `{"active":false}` {
				t.Errorf("%s: %s", tt.name, a.text)
			}
			if tt.undo != nil {
				tt.undo()
				if w.works(access) != tt.back {
					t.Errorf("%s: the token works again: %t", tt.name, !tt.back)
				}
			}
			if tt.back {
				continue
			}
			if a := w.refresh(refresh); a.status == http.StatusOK {
				t.Errorf("%s: it can be refreshed", tt.name)
			}
		}
	})
}

// TestNewPasswordEndsCodes: a code that was on its way when the password changed
// does not outlive it.
func TestNewPasswordEndsCodes(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		const user = "u@example.com"
		w.User(t, user)
		w.password(user)
		w.browser = w.login(user, password)
		code := w.code()
		others := w.login("Administrator", password)
		w.password(user)
		w.redeem(code).is(400, "invalid_grant")
		w.redeem(code).is(400, "invalid_grant")
		w.browser = w.login(user, password)
		w.redeem(w.code()).ok()

		w.browser = others
		code = w.code()
		w.password(user)
		w.redeem(code).ok() // it is somebody else's
	})
}

// TestGrants is what the pages about applications are made of.
func TestGrants(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.tokens("scope", "openid")
		w.tokens()
		mine, err := w.Tenant.OAuth.Grants(t.Context(), "Administrator")
		if err != nil || len(mine) != 2 || mine[0].Name != "Test" || strings.Join(mine[0].Scopes, " ") != "all openid" || mine[0].LastUsed.IsZero() {
			t.Fatalf("grants %+v: %v", mine, err)
		}
		of, err := w.Tenant.OAuth.GrantsOf(t.Context(), w.id)
		if err != nil || len(of) != 2 || of[0].User != "Administrator" {
			t.Errorf("grants of the client %+v: %v", of, err)
		}
		w.User(t, "u@example.com")
		other, err := w.Tenant.Auth.Caller(t.Context(), "u@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Tenant.OAuth.EndGrant(t.Context(), other, mine[0].ID); err == nil {
			t.Error("somebody else ended a grant")
		}
		app := *other
		app.User, app.Client, app.Scopes = "Administrator", w.id, []*scope.Set{scope.Token("all")}
		if err := w.Tenant.OAuth.EndGrant(t.Context(), &app, mine[0].ID); err == nil {
			t.Error("an application ended a grant")
		}
		// What the provider writes nobody else writes.
		for _, doctype := range []string{"OAuth Grant", "OAuth Bearer Token", "OAuth Authorization Code", "OAuth Signing Key"} {
			w.Admin.On(t).Post("/api/resource/"+url.PathEscape(doctype), map[string]any{"client": w.id}).Fails(t, http.StatusForbidden, "PermissionError")
		}
		w.Admin.On(t).Put("/api/resource/OAuth%20Grant/"+mine[0].ID, map[string]any{"scopes": "all"}).Fails(t, http.StatusForbidden, "PermissionError")
		// Nor does an application end what others were let do, whatever its user may.
		access, _ := w.tokens()
		for _, g := range mine {
			if a := w.bearer(access, "DELETE", "/api/resource/OAuth%20Grant/"+g.ID, ""); a.status != http.StatusForbidden {
				t.Errorf("an application ended a grant: %d %s", a.status, a.text)
			}
		}
		if a := w.Admin.On(t).Delete("/api/resource/OAuth%20Grant/" + mine[0].ID); a.Status != http.StatusAccepted {
			t.Errorf("its user did not end it: %d %s", a.Status, a.Text)
		}
	})
}

// TestFailures: what is wrong with the server is said in the words of RFC 6749.
func TestFailures(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		code := w.code()
		if err := w.Tenant.Store.Close(); err != nil {
			t.Fatal(err)
		}
		for endpoint, a := range map[string]*answer{
			"get_token":        w.redeem(code),
			"introspect_token": w.form("introspect_token", "token", "x"),
			"revoke_token":     w.form("revoke_token", "token", "x"),
		} {
			if a.json["error"] != "server_error" && a.json["error"] != "temporarily_unavailable" {
				t.Errorf("%s: %d %s", endpoint, a.status, a.text)
			}
			a.is(a.status, a.str("error"))
			if a.status < 500 || strings.Contains(a.text, "sql") || strings.Contains(a.text, "closed") {
				t.Errorf("%s: %d %s", endpoint, a.status, a.text)
			}
		}
	})
}

// TestClientSecret: it is shown once, to whoever made the client, and lies sealed;
// another one takes its place at once.
func TestClientSecret(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		path := "/api/resource/OAuth%20Client/" + w.id
		for _, text := range []string{
			w.Admin.On(t).Get(path).OK(t).Text,
			w.Admin.On(t).Put(path, map[string]any{"app_name": "Renamed", "client_secret": "chosen", "sealed_secret": "chosen", "client_id": "chosen"}).OK(t).Text,
			w.Admin.On(t).Get("/api/resource/OAuth%20Client", "fields", []string{"client_secret"}).OK(t).Text,
			w.Admin.On(t).Get("/api/resource/OAuth%20Client", "fields", []string{"sealed_secret"}).Text,
			w.Admin.On(t).Post("/api/method/framework.client.get_password", map[string]any{"doctype": "OAuth Client", "name": w.id, "fieldname": "sealed_secret"}).Text,
		} {
			if strings.Contains(text, w.secret) || strings.Contains(text, "chosen") {
				t.Errorf("the secret is shown: %s", text)
			}
		}
		w.tokens()
		err := w.Tenant.Store.Read(t.Context(), func(tx document.Tx) error {
			sc := w.Tenant.Documents.Schema()
			doc, err := tx.Get(t.Context(), sc, sc.DocType("OAuth Client"), w.id, false)
			if err == nil && (doc.Text("client_secret") != "" || doc.Text("sealed_secret") == "" || strings.Contains(doc.Text("sealed_secret"), w.secret)) {
				t.Error("the secret lies in the database")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		rotate := prefix + "rotate_client_secret"
		w.User(t, "u@example.com").On(t).Post(rotate, map[string]any{"client_id": w.id}).Fails(t, http.StatusForbidden, "PermissionError")
		fresh, _ := w.Admin.On(t).Post(rotate, map[string]any{"client_id": w.id}).Message(t).(map[string]any)
		code := w.code()
		w.redeem(code).is(400, "invalid_client")
		w.secret, _ = fresh["client_secret"].(string)
		a := w.redeem(code).ok()
		claims(t, a.str("id_token"), w.secret)

		for _, bad := range []map[string]any{
			{"redirect_uris": "", "default_redirect_uri": ""}, {"redirect_uris": "javascript:alert(1)"}, {"redirect_uris": "https://a.example/#f"},
			{"redirect_uris": "/relative"}, {"redirect_uris": "https://"}, {"default_redirect_uri": "data:text/html,x"}, {"scopes": "a\"b"},
			{"grant_type": "Implicit"}, {"response_type": "Token"},
		} {
			if a := w.Admin.On(t).Put(path, bad); a.Status != http.StatusExpectationFailed {
				t.Errorf("%v: %d", bad, a.Status)
			}
		}
	})
}

// TestTokensAreHashes: nothing that was handed out lies in the database.
func TestTokensAreHashes(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		unused := w.code()
		access, refresh := w.tokens()
		rows := 0
		for _, doctype := range []string{oauthstore.CodeName, oauthstore.TokenName, oauthstore.GrantName} {
			for _, name := range w.Admin.On(t).Get("/api/resource/"+url.PathEscape(doctype), "limit", "0").Column(t, "name") {
				rows++
				text := w.Admin.On(t).Get("/api/resource/" + url.PathEscape(doctype) + "/" + name.(string)).OK(t).Text
				for _, secret := range []string{unused, access, refresh, w.secret} {
					if strings.Contains(text, secret) {
						t.Errorf("%s %s holds it: %s", doctype, name, text)
					}
				}
			}
		}
		if rows < 5 {
			t.Errorf("%d rows", rows)
		}
	})
}

// TestSweep: what is past use is cleared away, and not before using it once more
// would be noticed.
func TestSweep(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		count := func(doctype string) (n int) {
			n = len(w.Admin.On(t).Get("/api/resource/"+url.PathEscape(doctype), "limit", "1000").List(t))
			return n
		}
		code := w.code()
		first := w.redeem(code).ok()
		latest := w.refresh(first.str("refresh_token")).ok()
		clock.add(29 * 24 * 3600)
		sweep := func() {
			t.Helper()
			if err := w.Tenant.OAuth.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sweep()
		if c, g, k := count(oauthstore.CodeName), count(oauthstore.GrantName), count(oauthstore.TokenName); c != 1 || g != 1 || k != 2 {
			t.Errorf("after 29 days: %d codes, %d grants, %d tokens", c, g, k) // two refresh tokens, one of them used
		}
		w.redeem(code).is(400, "invalid_grant")
		if a := w.form("introspect_token", "token", latest.str("refresh_token"), "token_type_hint", "refresh_token"); a.text != `{"active":false}` {
			t.Errorf("a code that came twice after 29 days ended nothing: %s", a.text)
		}
		clock.add(3 * 24 * 3600)
		sweep()
		if c, g, k := count(oauthstore.CodeName), count(oauthstore.GrantName), count(oauthstore.TokenName); c+g+k != 0 {
			t.Errorf("after 32 days: %d codes, %d grants, %d tokens", c, g, k)
		}
	}, clock.option)
}

// TestSweepUnused: clients that registered themselves go when nobody lets them in;
// one that somebody has let in stays, and so does one that an administrator made.
func TestSweepUnused(t *testing.T) {
	clock := newClock()
	each(t, nil, func(t *testing.T, w *world) {
		const back = "https://app.example/cb"
		register := func() (id, secret string) {
			r := w.Guest.On(t).Post("/api/method/framework.integrations.oauth2.register_client", map[string]any{
				"client_name": "Self", "redirect_uris": []string{back},
			})
			if r.Status != http.StatusCreated {
				t.Fatalf("register: %d %s", r.Status, r.Text)
			}
			return r.Body["client_id"].(string), r.Body["client_secret"].(string)
		}
		unused, _ := register()
		used, secret := register()
		there := func(id string) bool {
			return w.Admin.On(t).Get("/api/resource/OAuth%20Client/"+id).Status == http.StatusOK
		}
		sweep := func() {
			t.Helper()
			if err := w.Tenant.OAuth.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sweep()
		if !there(unused) || !there(used) || !there(w.id) {
			t.Fatal("a new client was taken away")
		}
		clock.add(31 * 24 * 3600)
		w.Admin.On(t).Put("/api/resource/OAuth%20Client/"+used, map[string]any{"skip_authorization": 1}).OK(t)
		q := w.login("Administrator", password).get(w.query("client_id", used, "redirect_uri", back, "scope", "")).redirected(back)
		w.form("get_token", "grant_type", "authorization_code", "code", q.Get("code"), "redirect_uri", back,
			"client_id", used, "client_secret", secret).ok()
		sweep()
		if there(unused) || !there(used) || !there(w.id) {
			t.Errorf("unused %v, let in %v, made by an administrator %v", there(unused), there(used), there(w.id))
		}
	}, clock.option)
}

// TestManyProcesses: a token that one process revokes stops in another one within a
// second, and so do the tokens of a user who is disabled there.
func TestManyProcesses(t *testing.T) {
	var config sites.Config
	each(t, nil, func(t *testing.T, w *world) {
		other := sites.NewSet(config)
		defer other.CloseAll()
		if _, err := other.Open(t.Context(), w.Tenant.Site.Name); err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(httpapi.New(httpapi.Config{Sites: other}))
		defer srv.Close()
		there := *w
		s := *w.Server
		s.URL = srv.URL
		there.Server = &s
		stops := func(name, token string) {
			t.Helper()
			end := time.Now().Add(time.Minute) // it is promised within a second, of a machine that has one
			for there.works(token) {
				if time.Now().After(end) {
					t.Fatalf("%s: the token goes on working in the other process", name)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		access, refresh := w.tokens()
		if !there.works(access) {
			t.Fatal("a token of one process does not work in the other")
		}
		renewed := there.refresh(refresh).ok()
		if w.form("revoke_token", "token", renewed.str("access_token")); w.works(renewed.str("access_token")) {
			t.Error("the token works in the process that revoked it")
		}
		stops("revoked", renewed.str("access_token"))

		access, _ = w.tokens()
		if !there.works(access) {
			t.Fatal("a token of one process does not work in the other")
		}
		w.Admin.On(t).Delete("/api/resource/OAuth%20Client/" + w.id)
		stops("client deleted", access)
	}, func(c *sites.Config) { c.Password = password; config = *c })
}

// TestSteadyState: a token that is known costs no query until something changes.
func TestSteadyState(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		access, _ := w.tokens()
		if !w.works(access) {
			t.Fatal("the token does not work")
		}
		store := w.Tenant.Store
		if err := store.Close(); err != nil { // whatever asks the database from now on fails
			t.Fatal(err)
		}
		start := time.Now()
		caller, err := w.Tenant.OAuth.Bearer(t.Context(), httptest.NewRequest("GET", "/api", nil), access)
		if time.Since(start) > 400*time.Millisecond {
			t.Skip("too slow to tell")
		}
		if err != nil || caller.User != identity.Administrator || caller.Client != w.id || !caller.Holds("openid") {
			t.Errorf("caller %+v: %v", caller, err)
		}
	})
}
