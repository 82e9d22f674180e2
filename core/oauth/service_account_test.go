package oauth_test

import (
	"testing"
)

// service makes a user for programs, and a client that acts as it.
func (w *world) service(email string, with map[string]any) (id, secret string) {
	w.t.Helper()
	w.Admin.On(w.t).Post("/api/resource/User", map[string]any{
		"email": email, "first_name": "Robot", "user_type": "Service", "roles": []map[string]any{{"role": "System Manager"}},
	}).OK(w.t)
	values := map[string]any{"service_user": email, "redirect_uris": "", "default_redirect_uri": ""}
	for k, v := range with {
		values[k] = v
	}
	return w.client(values)
}

// TestClientCredentials: a program with a user of its own gets tokens for it, which end
// with what they rest on.
func TestClientCredentials(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		id, secret := w.service("robot@example.com", nil)
		ask := func(pairs ...string) *answer {
			return w.basic("get_token", id, secret, append([]string{"grant_type", "client_credentials"}, pairs...)...)
		}
		a := ask().ok()
		if a.str("refresh_token") != "" || a.str("id_token") != "" || a.str("scope") != "all" {
			t.Errorf("the answer %s", a.text)
		}
		who := w.bearer(a.str("access_token"), "GET", "/api/method/framework.auth.get_logged_user", "").ok()
		if who.json["message"] != "robot@example.com" {
			t.Errorf("it acts as %v", who.json["message"])
		}
		narrow := ask("scope", "resource:ToDo:read").ok().str("access_token")
		if got := w.bearer(narrow, "GET", "/api/resource/User", ""); got.status != 403 {
			t.Errorf("a narrowed token: %d %s", got.status, got.text)
		}
		w.bearer(narrow, "GET", "/api/resource/ToDo", "").ok()
		ask("scope", "openid").is(400, "invalid_scope")
		ask("resource", "https://other.example/").is(400, "invalid_target")
		w.basic("get_token", id, "wrong", "grant_type", "client_credentials").is(401, "invalid_client")
		// Nobody's consent stands behind it: the client has no other way in.
		if a := w.browser.get(w.query("client_id", id)); a.status != 400 {
			t.Errorf("a request for authorization: %d", a.status)
		}

		// What a token rests on: the client's user, and the user.
		w.Admin.Put("/api/resource/OAuth%20Client/"+id, map[string]any{"scopes": "resource:ToDo:read"}).OK(t)
		if w.works(a.str("access_token")) {
			t.Error("a token outlives the client's scopes")
		}
		w.Admin.Put("/api/resource/OAuth%20Client/"+id, map[string]any{"scopes": "all", "service_user": "", "redirect_uris": callback}).OK(t)
		if w.works(a.str("access_token")) {
			t.Error("a token outlives the client's user")
		}
		ask().is(400, "unauthorized_client")
		w.Admin.Put("/api/resource/OAuth%20Client/"+id, map[string]any{"service_user": "robot@example.com"}).OK(t)
		again := ask().ok().str("access_token")
		w.Admin.Put("/api/resource/User/robot@example.com", map[string]any{"enabled": 0}).OK(t)
		if w.works(again) {
			t.Error("a token outlives its user")
		}
		ask().is(400, "invalid_grant")
	})
}

// TestServiceUser: the user of a program is nobody's login, and nobody's client acts as
// a person.
func TestServiceUser(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.service("robot@example.com", nil)
		robot := "/api/resource/User/robot@example.com"
		w.Admin.Put(robot, map[string]any{"new_password": "a long enough password"}).Fails(t, 417, "ValidationError")
		w.Admin.Put(robot, map[string]any{"user_type": "Website User"}).Fails(t, 417, "CannotChangeConstantError")
		w.Admin.Post("/api/resource/User", map[string]any{"email": "jane@example.com", "first_name": "Jane"}).OK(t)
		w.Admin.Put("/api/resource/User/jane@example.com", map[string]any{"user_type": "Service"}).Fails(t, 417, "CannotChangeConstantError")
		client := map[string]any{"app_name": "x", "redirect_uris": callback, "service_user": "jane@example.com"}
		w.Admin.Post("/api/resource/OAuth%20Client", client).Fails(t, 417, "ValidationError")
		client["service_user"], client["token_endpoint_auth_method"] = "robot@example.com", "None"
		w.Admin.Post("/api/resource/OAuth%20Client", client).Fails(t, 417, "ValidationError")
		client["service_user"], client["token_endpoint_auth_method"] = "nobody@example.com", ""
		w.Admin.Post("/api/resource/OAuth%20Client", client).Fails(t, 417, "LinkValidationError")
		// Keys are given to programs.
		keys := w.Admin.Post("/api/method/framework.core.doctype.user.user.generate_keys", map[string]any{"user": "robot@example.com"})
		if keys.Status != 200 {
			t.Errorf("keys: %d %s", keys.Status, keys.Text)
		}
	})
}

// TestTokensForResources: a token is for what its client has named, and no other part of
// the site.
func TestTokensForResources(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		reaches := func(token, path string) bool {
			t.Helper()
			switch a := w.bearer(token, "GET", path, ""); a.status {
			case 200:
				return true
			case 401:
				return false
			default:
				t.Fatalf("%s: %d %s", path, a.status, a.text)
				return false
			}
		}
		const todo, logged = "/api/resource/ToDo", "/api/method/framework.auth.get_logged_user"
		for _, tt := range []struct {
			at, then     string // resource at the authorization and at the token endpoint
			todo, method bool
		}{
			{"", "", true, true},
			{"/", "", true, true},
			{"/api", "", true, true},
			{"/api/resource", "", true, false},
			{"/api/resource/", "", true, false},
			{"/api/res", "", false, false},
			{"/mcp", "", false, false},
			{"", "/api/method", false, true},
			{"/api/method", "/api/method", false, true},
		} {
			var first, second []string
			if tt.at != "" {
				first = []string{"resource", w.URL + tt.at}
			}
			if tt.then != "" {
				second = []string{"resource", w.URL + tt.then}
			}
			a := w.redeem(w.code(first...), second...).ok()
			token := a.str("access_token")
			if got := reaches(token, todo); got != tt.todo {
				t.Errorf("%q, %q: documents: %v", tt.at, tt.then, got)
			}
			if got := reaches(token, logged); got != tt.method {
				t.Errorf("%q, %q: methods: %v", tt.at, tt.then, got)
			}
			if got := w.bearer(token, "GET", "/api/resource/ToDo%2f..%2f..%2fmethod", "").status; got != 401 && !tt.todo {
				t.Errorf("%q, %q: a path with dots gets around it: %d", tt.at, tt.then, got)
			}
			again := w.refresh(a.str("refresh_token")).ok().str("access_token")
			if got := reaches(again, todo); tt.then == "" && got != tt.todo {
				t.Errorf("%q, refreshed: documents: %v", tt.at, got)
			}
		}
	})
}
