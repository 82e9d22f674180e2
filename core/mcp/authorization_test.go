package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// TestAuthorization: an agent learns whom to ask for a token, and no token counts but
// one that was asked for naming this address.
func TestAuthorization(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		p := newProgram(t, s, "robot@example.com", "System Manager")
		res, text := raw(t, s, nil, ping)
		metadata := s.URL + "/.well-known/oauth-protected-resource/mcp"
		if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != 401 || got != `Bearer scope="resource:*:read", resource_metadata="`+metadata+`"` {
			t.Errorf("without credentials: %d %s %s", res.StatusCode, got, text)
		}
		about := s.Guest.On(t).Get("/.well-known/oauth-protected-resource/mcp").OK(t).Body
		if about["resource"] != s.URL+"/mcp" || about["authorization_servers"].([]any)[0] != s.URL {
			t.Errorf("the metadata: %v", about)
		}
		if got := s.Guest.On(t).Get("/.well-known/oauth-protected-resource/other").Status; got != 404 {
			t.Errorf("the metadata of what is not there: %d", got)
		}
		const todo = "/api/resource/ToDo"
		tests := []struct {
			resource   string
			here, rest bool
		}{
			{"", false, true},
			{s.URL, false, true},
			{s.URL + "/", false, true},
			{s.URL + "/api", false, true},
			{s.URL + "/mcp/other", false, false},
			{s.URL + "/mcp", true, false},
			{s.URL + "/mcp/", true, false},
		}
		for _, test := range tests {
			token := p.token("all", test.resource)
			res, text := raw(t, s, http.Header{"Authorization": {token}}, ping)
			challenge := `Bearer error="invalid_token", scope="resource:*:read", resource_metadata="` + metadata + `"`
			if (res.StatusCode == 200) != test.here || !test.here && res.Header.Get("WWW-Authenticate") != challenge {
				t.Errorf("a token for %q: %d %s %s", test.resource, res.StatusCode, res.Header.Get("WWW-Authenticate"), text)
			}
			c := *s.Guest
			c.Authorization = token
			if got := c.On(t).Get(todo).Status; (got == 200) != test.rest {
				t.Errorf("a token for %q at REST: %d", test.resource, got)
			}
		}
		if res, text := raw(t, s, http.Header{"Authorization": {s.Admin.Authorization}}, ping); res.StatusCode != 200 {
			t.Errorf("an API key: %d %s", res.StatusCode, text)
		}
	})
}

// TestScopesStepByStep: a token without a scope is told which, beside those it has.
func TestScopesStepByStep(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		p := newProgram(t, s, "robot@example.com", "System Manager")
		name := s.Admin.On(t).Post("/api/resource/ToDo", map[string]any{"description": "x"}).Data(t)["name"]
		tests := []struct {
			scopes, tool string
			args         map[string]any
			needs        string
		}{
			{"method:x", "list", map[string]any{"doctype": "ToDo"}, "resource:ToDo:read"},
			{"method:x", "describe", map[string]any{"doctype": "ToDo"}, "resource:ToDo:read"},
			{"method:x", "search", map[string]any{"doctype": "ToDo", "text": "x"}, "resource:ToDo:read"},
			{"resource:User:read", "read", map[string]any{"doctype": "ToDo", "name": name}, "resource:ToDo:read"},
			{"resource:*:read", "create", map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "y"}}, "resource:ToDo:write"},
			{"resource:*:read", "update", map[string]any{"doctype": "ToDo", "name": name, "values": map[string]any{"description": "y"}}, "resource:ToDo:write"},
			{"resource:*:read", "delete", map[string]any{"doctype": "ToDo", "name": name}, "resource:ToDo:write"},
			{"resource:*:read", "call_method", map[string]any{"method": "framework.plugins.list"}, "method:framework.plugins.list"},
			{"resource:*:read", "query_method", map[string]any{"method": "framework.auth.get_logged_user"}, ""},
		}
		for _, test := range tests {
			res, text := raw(t, s, http.Header{"Authorization": {p.token(test.scopes, s.URL+"/mcp")}}, toolCall(test.tool, test.args))
			if test.needs == "" {
				if res.StatusCode != 200 {
					t.Errorf("%s: %d %s", test.tool, res.StatusCode, text)
				}
				continue
			}
			want := `Bearer error="insufficient_scope", scope="` + test.scopes + " " + test.needs + `", resource_metadata="`
			if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != 403 || !strings.HasPrefix(got, want) {
				t.Errorf("%s with %s: %d %s %s", test.tool, test.scopes, res.StatusCode, got, text)
			}
			// What was asked for is the answer to the message, too.
			var message struct {
				ID     int
				Result struct{ IsError bool }
			}
			if json.Unmarshal([]byte(text), &message) != nil || message.ID != 1 || !message.Result.IsError {
				t.Errorf("%s: the body %s", test.tool, text)
			}
			res, text = raw(t, s, http.Header{"Authorization": {p.token(test.scopes+" "+test.needs, s.URL+"/mcp")}}, toolCall(test.tool, test.args))
			if res.StatusCode == 401 || res.StatusCode == 403 {
				t.Errorf("%s with what it asked for: %d %s", test.tool, res.StatusCode, text)
			}
			if test.tool == "delete" {
				return
			}
		}
	})
}

// TestBorder: what does not get as far as a tool.
func TestBorder(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		key := http.Header{"Authorization": {s.Admin.Authorization}}
		with := func(name, value string) http.Header {
			h := key.Clone()
			h.Set(name, value)
			return h
		}
		deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
		tests := []struct {
			name   string
			header http.Header
			body   string
			status int
		}{
			{"a page of another origin", with("Origin", "https://evil.example"), ping, 403},
			{"a page of the sandbox origin", with("Origin", "null"), ping, 403},
			{"a page of the site", with("Origin", s.URL), ping, 200},
			{"a session alone", http.Header{"Cookie": {"sid=0123456789abcdef0123456789abcdef"}}, ping, 401},
			{"a wrong key", http.Header{"Authorization": {"token a:b"}}, ping, 401},
			{"a batch", key, "[" + ping + "," + ping + "]", 400},
			{"no JSON", key, "{", 417},
			{"very deep", key, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + deep + `}`, 417},
			{"too large", key, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`, 413},
			{"a method that there is not", key, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, 400},
			{"an unknown version", with("Mcp-Protocol-Version", "1999-01-01"), ping, 400},
		}
		for _, test := range tests {
			res, text := raw(t, s, test.header, test.body)
			if res.StatusCode != test.status {
				t.Errorf("%s: %d, want %d: %.300s", test.name, res.StatusCode, test.status, text)
			}
			if res.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: sets a cookie", test.name)
			}
		}
		if got := s.Admin.On(t).Get("/mcp").Status; got != 405 {
			t.Errorf("GET: %d", got)
		}
		s.Configure(t, "mcp", "false")
		if res, _ := raw(t, s, key, ping); res.StatusCode != 404 {
			t.Errorf("switched off: %d", res.StatusCode)
		}
		if got := s.Guest.On(t).Get("/.well-known/oauth-protected-resource/mcp").Status; got != 404 {
			t.Errorf("the metadata where it is switched off: %d", got)
		}
	})
}

// TestLimits: an agent's calls count where those over REST do, and as those of agents.
func TestLimits(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "call_limits", `{"framework.auth.get_logged_user": {"limit": 2, "seconds": 3600, "user": true}}`)
		a := connect(t, s, s.Admin.Authorization, generations[0])
		args := map[string]any{"method": "framework.auth.get_logged_user"}
		a.ok("query_method", args)
		s.Admin.On(t).Get("/api/method/framework.auth.get_logged_user").OK(t)
		a.refused("RateLimitExceededError", "query_method", args)
		s.Configure(t, "call_limits", `{"mcp": {"limit": 1, "seconds": 3600, "user": true}}`)
		key := http.Header{"Authorization": {s.Admin.Authorization}}
		if res, text := raw(t, s, key, ping); res.StatusCode != 200 {
			t.Errorf("the first: %d %s", res.StatusCode, text)
		}
		if res, text := raw(t, s, key, ping); res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("the second: %d %s", res.StatusCode, text)
		}
	})
}
