package httpapi

import (
	"net/http"

	"armature/core/proxy"
)

// description serves GET /api/openapi.json: the caller's own view of the API.
func (x *exchange) description() (func() error, error) {
	switch {
	case x.site.Describe == nil:
		return nil, errNoRoute
	case x.verb() != http.MethodGet:
		return nil, x.wrongVerb("GET, HEAD, OPTIONS")
	}
	return func() error {
		text, err := x.site.Describe(x.caller, x.origin())
		if err != nil {
			return err
		}
		return x.sendJSON(http.StatusOK, text)
	}, nil
}

// origin is the scheme and host the client used.
func (x *exchange) origin() string {
	scheme := "http"
	if proxy.Secure(x.r) {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host
}
