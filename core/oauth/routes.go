package oauth

import (
	"net/http"
	"strings"

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
		raw("end_session", s.endSession),
		raw("device_authorization", s.askForDevice),
		raw("device", s.device),
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

const (
	openidPath = "/.well-known/openid-configuration"
	serverPath = "/.well-known/oauth-authorization-server"
)

// Pages are what programs may know of the provider, and where people go with the code
// that a device shows.
func (s *Service) Pages() (all []route.Page) {
	for path, endpoint := range s.wellKnown() {
		all = append(all, route.Page{Path: path, Serve: func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return endpoint(w, r) }})
	}
	all = append(all, route.Page{Path: devicePath, Serve: func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return s.toDevice(w, r) }})
	return all
}

func (s *Service) wellKnown() map[string]Endpoint {
	all := map[string]Endpoint{
		openidPath:   s.metadata(s.openidConfiguration),
		serverPath:   s.metadata(s.serverMetadata),
		resourcePath: s.metadata(s.resourceMetadata),
		keysPath:     s.metadata(s.keySet),
	}
	for i := range s.c.Parts {
		all[resourcePath+s.c.Parts[i].Path] = s.metadata(s.partMetadata(&s.c.Parts[i]))
	}
	return all
}

// isMetadata reports whether a path is one of Pages, at no cost for other requests.
func (s *Service) isMetadata(path string) bool {
	part, ok := strings.CutPrefix(path, resourcePath)
	return path == openidPath || path == serverPath || path == resourcePath || path == keysPath || ok && s.part(part) != nil
}
