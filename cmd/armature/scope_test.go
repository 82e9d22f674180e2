package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// TestScopesInsidePlugin: a token reaches through a plugin no further than by
// itself, though its user may do more.
func TestScopesInsidePlugin(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.serve()
		s.auth = in.keys("Administrator")
		wasm := filepath.Join(t.TempDir(), "todo.wasm")
		in.run("plugin", "build", filepath.Join(root(t), "examples", "todo"), "-o", wasm)
		in.run("plugin", "install", wasm)
		s.want("POST", "/api/resource/User", map[string]any{
			"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase",
		})
		todo := s.want("POST", "/api/resource/ToDo", map[string]any{"description": "x", "allocated_to": "ada@example.com"}).(map[string]any)
		eventually(t, "the plugin serves", func() bool {
			status, _ := s.call("GET", "/api/method/acme.todo.summary", nil)
			return status == http.StatusOK
		})
		body := map[string]any{"name": todo["name"]}

		reader := s.bearer(t, "method:acme.todo.* resource:ToDo:read")
		if status, answer := s.callAs(reader, "GET", "/api/method/acme.todo.show?name="+todo["name"].(string), nil); status != http.StatusOK {
			t.Fatalf("show with the right to read: %d %v", status, answer)
		}
		if status, answer := s.callAs(reader, "POST", "/api/method/acme.todo.close", body); status != http.StatusForbidden || answer["exc_type"] != "PermissionError" {
			t.Errorf("close with the right to read: %d %v", status, answer)
		}
		if got := s.want("GET", "/api/resource/ToDo/"+todo["name"].(string), nil).(map[string]any)["status"]; got != "Open" {
			t.Errorf("the document is %v", got)
		}
		other := s.bearer(t, "method:acme.other.* resource:ToDo:write")
		if status, answer := s.callAs(other, "POST", "/api/method/acme.todo.close", body); status != http.StatusForbidden {
			t.Errorf("close without the right to the method: %d %v", status, answer)
		}
		writer := s.bearer(t, "method:acme.todo.close resource:ToDo:read resource:ToDo:write")
		if status, answer := s.callAs(writer, "POST", "/api/method/acme.todo.close", body); status != http.StatusOK {
			t.Errorf("close with the right to write: %d %v", status, answer)
		}
	})
}

// bearer gets a token of the given scopes for ada@example.com, by the code flow.
func (s *server) bearer(t *testing.T, scopes string) string {
	t.Helper()
	const home = "http://127.0.0.1:1"
	client := s.want("POST", "/api/resource/OAuth Client", map[string]any{
		"app_name": "Narrow", "redirect_uris": home + "/cb", "scopes": scopes, "skip_authorization": 1,
	}).(map[string]any)
	id, secret := client["client_id"].(string), client["client_secret"].(string)
	back := consent(t, s.url, "ada@example.com", "a long enough pass phrase", s.url+"/api/method/framework.integrations.oauth2.authorize?"+url.Values{
		"client_id": {id}, "response_type": {"code"}, "redirect_uri": {home + "/cb"}, "scope": {scopes}, "state": {"s"},
	}.Encode(), home)
	answered, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.PostForm(s.url+"/api/method/framework.integrations.oauth2.get_token", url.Values{
		"grant_type": {"authorization_code"}, "code": {answered.Query().Get("code")}, "redirect_uri": {home + "/cb"},
		"client_id": {id}, "client_secret": {secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var token struct {
		Access string `json:"access_token"`
		Scope  string `json:"scope"`
	}
	if err := json.NewDecoder(res.Body).Decode(&token); err != nil || token.Access == "" {
		t.Fatalf("%s: %v", res.Status, err)
	}
	if len(strings.Fields(token.Scope)) != len(strings.Fields(scopes)) {
		t.Fatalf("asked for %q, got %q", scopes, token.Scope)
	}
	return "Bearer " + token.Access
}
