package oauth

import (
	"net/http"
	"net/url"
	"strings"
)

// Asker is the application for which a user is sent to log in.
type Asker struct {
	Name        string // as pages show it; empty: known only when it is asked for, after the login
	Host        string // that vouches for the client; empty: the site made its id
	Itself      bool   // nobody of the site has checked what it says
	RedirectURI string // where its answer goes; empty where that is not known yet
	LoginHint   string // whom it means (OpenID Connect Core section 3.1.2.1); may be empty
}

// Asker says which application is behind a login that leads to a path of this site,
// its query included; nil where it leads somewhere else, or to a request that cannot
// be met. It fetches nothing: whoever makes the request is nobody yet. Errors: those
// of the database.
func (s *Service) Asker(r *http.Request, to string) (*Asker, error) {
	u, err := url.Parse(to)
	// The path may begin with another name of the platform's (site.Config.Aliases).
	if err != nil || !strings.HasPrefix(u.Path, "/api/") || !strings.HasSuffix(u.Path, ".integrations.oauth2.authorize") {
		return nil, nil
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, nil
	}
	found, err := s.client(r.Context(), q.Get("client_id"))
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	asker := &Asker{Host: found.host, Itself: found.itself, LoginHint: q.Get("login_hint")}
	if found.host != "" {
		if s.c.Ours(r, found.id) {
			return nil, nil
		}
		return asker, nil
	}
	if asker.RedirectURI = q.Get("redirect_uri"); asker.RedirectURI == "" {
		asker.RedirectURI = found.fallback
	}
	if !found.answersAt(asker.RedirectURI) {
		return nil, nil
	}
	asker.Name, err = s.shown(r.Context(), found)
	return asker, err
}
