package oauth

import (
	"net/http"

	"armature/core/route"
)

// Raw are the endpoints of the provider that are methods. They read credentials
// themselves.
func (s *Service) Raw() []*route.Raw {
	return []*route.Raw{
		raw("authorize", s.authorize),
		raw("approve", s.approve),
		raw("get_token", s.token),
		raw("revoke_token", s.revoke),
		raw("introspect_token", s.introspect),
		raw("openid_profile", s.userinfo),
		raw("register_client", s.register),
	}
}

func raw(name string, endpoint Endpoint) *route.Raw {
	return &route.Raw{
		Path: Prefix + name, NoCredentials: true, Fail: Fail,
		Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
			return endpoint(w, r.WithContext(WithNames(r.Context(), call.Exchange.Names)))
		},
	}
}

// Page returns what answers at a path outside /api, or nil.
func (s *Service) Page(path string) route.Handler {
	endpoint := s.wellKnown(path)
	if endpoint == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return endpoint(w, r) }
}

// wellKnown returns the endpoint with what programs may know of the provider, or
// nil.
func (s *Service) wellKnown(path string) Endpoint {
	switch path {
	case "/.well-known/openid-configuration":
		return s.metadata(s.openidConfiguration)
	case "/.well-known/oauth-authorization-server":
		return s.metadata(s.serverMetadata)
	case resourcePath:
		return s.metadata(s.resourceMetadata)
	case keysPath:
		return s.metadata(s.keySet)
	}
	return nil
}
