package oauth

import (
	"net/http"
	"strings"

	"github.com/ory/fosite"
)

// appPrefix begins the id of the client that a plugin with pages is. Nobody registers it: it
// is there as long as the plugin serves, its redirect URI is the platform's own, and what it
// has is what a user gives it.
const appPrefix = "plugin:"

// app is the client of a plugin with pages; fosite.ErrNotFound where it has none.
func (s *Service) app(id string) (*client, error) {
	plugin := strings.TrimPrefix(id, appPrefix)
	if s.c.Apps == nil || !s.c.Apps.Has(plugin) {
		return nil, fosite.ErrNotFound
	}
	return &client{
		id: id, name: plugin, codeFlow: true, method: methodNone, algorithm: rs256,
		scopes: []string{openID, "resource:*:write", "method:*"}, usual: []string{openID},
	}, nil
}

// askingApp is the same for a request for authorization, which has a host.
func (s *Service) askingApp(r *http.Request, id string) (*client, error) {
	c, err := s.app(id)
	if err != nil {
		return nil, err
	}
	c.redirects = s.c.Apps.Redirects(r, strings.TrimPrefix(id, appPrefix))
	if len(c.redirects) == 1 {
		c.fallback = c.redirects[0]
	}
	return c, nil
}

func isApp(id string) bool { return strings.HasPrefix(id, appPrefix) }
