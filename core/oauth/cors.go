package oauth

import (
	"net/http"
	"slices"
	"strings"
)

// AllowOrigin adds the headers of CORS, on every answer and on a preflight, which
// the edge takes before the request gets anywhere. Metadata is for scripts of all
// pages, the endpoints that programs call for those of the pages that the settings
// name. They bring no cookie, so none is let in. path is the canonical dotted path
// of the method asked for, empty for a page.
func (s *Service) AllowOrigin(h http.Header, r *http.Request, path string) {
	if path == Prefix+"authorize" || path == Prefix+"approve" { // a person is asked there
		for _, name := range []string{"Allow-Origin", "Allow-Credentials", "Allow-Methods", "Allow-Headers"} {
			h.Del("Access-Control-" + name)
		}
		return
	}
	origin := r.Header.Get("Origin")
	if origin == "" || !s.open(r, path, origin) || h.Get("Access-Control-Allow-Origin") != "" {
		return
	}
	if !slices.Contains(h.Values("Vary"), "Origin") {
		h.Add("Vary", "Origin")
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, MCP-Protocol-Version")
		h.Set("Access-Control-Max-Age", "3600")
	}
}

// open reports whether a page of the origin may call what the request asks for.
func (s *Service) open(r *http.Request, path, origin string) bool {
	if path == "" {
		return s.isMetadata(r.URL.Path)
	}
	switch name := strings.TrimPrefix(path, Prefix); name {
	case "get_token", "revoke_token", "introspect_token", "openid_profile", "register_client":
		if s.c.Apps != nil && name != "register_client" && name != "introspect_token" && s.c.Apps.Trusts(r, origin) {
			return true
		}
		set, err := s.settings(r.Context())
		return err == nil && (slices.Contains(set.origins, "*") || slices.Contains(set.origins, origin))
	}
	return false
}
