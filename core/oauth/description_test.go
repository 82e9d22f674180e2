package oauth_test

import (
	"net/http"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestDescriptionOfScopes: the description of the API for a token lists what the
// token may do, and nothing else: whatever the Administrator is shown is tried, and
// what is refused for its scope is what the token's description leaves out.
func TestDescriptionOfScopes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, nil)
		describe := func(token string) map[string]any {
			t.Helper()
			paths, _ := w.bearer(token, "GET", "/api/openapi.json", "").ok().json["paths"].(map[string]any)
			return paths
		}
		everything, _ := w.tokens("scope", "all openid")
		all := describe(everything)
		if key := s.Admin.On(t).Get("/api/openapi.json").OK(t).Body["paths"].(map[string]any); len(key) != len(all) || len(all) < 30 {
			t.Fatalf("with a key %d paths, with a token of all %d", len(key), len(all))
		}
		for _, scopes := range []string{
			"openid", "resource:ToDo:read", "resource:ToDo:write", "resource:*:read", "method:framework.auth.*", "method:framework.handler.ping",
			"resource:User%20Permission:read resource:Note:write method:framework.handler.*",
		} {
			token, _ := w.tokens("scope", scopes)
			own := describe(token)
			for path, at := range all {
				for verb := range at.(map[string]any) {
					if verb == "parameters" {
						continue
					}
					listed := own[path] != nil && own[path].(map[string]any)[verb] != nil
					called := strings.ReplaceAll(path, "{name}", "none%20such")
					if strings.HasPrefix(path, "/api/method/") && verb != "get" || strings.Contains(path, "logout") {
						continue // one verb is enough, and some do things
					}
					a := w.bearer(token, strings.ToUpper(verb), called, "{}")
					refused := a.status == http.StatusForbidden && strings.Contains(a.header.Get("WWW-Authenticate"), "insufficient_scope")
					if refused == listed {
						t.Errorf("%s: %s %s is listed: %t, and got %d %s", scopes, verb, path, listed, a.status, a.header.Get("WWW-Authenticate"))
					}
				}
			}
			for path := range own {
				if all[path] == nil {
					t.Errorf("%s: %s is listed for the token alone", scopes, path)
				}
			}
		}
	})
}
