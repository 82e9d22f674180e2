package connectedapp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"armature/core/egress/endpoint"
	"armature/core/fault"
)

// discoveryLife is how long a discovery document counts before it is read again.
const discoveryLife = time.Hour

// wellKnown is what a discovery document's address ends in (OpenID Connect
// Discovery 1.0, section 4).
const wellKnown = "/.well-known/openid-configuration"

// provider is where a provider's endpoints are. Those that the app names itself
// count before those of the discovery document.
type provider struct {
	issuer        string
	namesIssuer   bool // it always says who it is in its answer (RFC 9207)
	authorization string
	token         string
	revocation    string
	style         oauth2.AuthStyle

	document json.RawMessage
	read     time.Time
}

// metadata are the members of a discovery document (RFC 8414, section 2) which
// count here.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
}

// provider finds the endpoints of an app.
func (s *Service) provider(ctx context.Context, a *app) (*provider, error) {
	p := &provider{}
	if issuer, ok := strings.CutSuffix(a.discovery, wellKnown); ok {
		p.issuer = issuer
	}
	if a.discovery != "" && (a.authorization == "" || a.token == "" || a.revocation == "") {
		found, err := s.discover(ctx, a.discovery, discoveryLife)
		if err != nil {
			return nil, err
		}
		*p = *found
	}
	for _, own := range []struct {
		to   *string
		from string
	}{{&p.authorization, a.authorization}, {&p.token, a.token}, {&p.revocation, a.revocation}} {
		if own.from != "" {
			*own.to = own.from
		}
	}
	return p, nil
}

// answers reports whether an answer to the browser that names iss can be this
// provider's (RFC 9207, section 2.4). The address of a discovery document does not
// tell whether its issuer ends in a slash.
func (p *provider) answers(iss string) bool {
	switch {
	case p.issuer == "":
		return true // nobody has said who it is
	case iss == "":
		return !p.namesIssuer
	}
	return strings.TrimSuffix(iss, "/") == strings.TrimSuffix(p.issuer, "/")
}

// discover reads a discovery document, or takes one that was read no longer ago
// than age. When a provider does not answer, what it said last goes on counting.
func (s *Service) discover(ctx context.Context, address string, age time.Duration) (*provider, error) {
	s.mu.Lock()
	known := s.discovered[address]
	s.mu.Unlock()
	if known != nil && s.now().Sub(known.read) < age {
		return known, nil
	}
	fresh, err := s.fetchDiscovery(ctx, address)
	if err != nil {
		if known != nil && age > 0 {
			return known, nil
		}
		return nil, err
	}
	s.mu.Lock()
	s.discovered[address] = fresh
	s.mu.Unlock()
	return fresh, nil
}

func (s *Service) fetchDiscovery(ctx context.Context, address string) (*provider, error) {
	issuer, ok := strings.CutSuffix(address, wellKnown)
	if !ok {
		return nil, fault.Invalid("", "OpenID Configuration must end in %s", wellKnown)
	}
	if err := s.way.Check(address); err != nil {
		return nil, err
	}
	// The issuer is compared here and not by the library: some write theirs with
	// a slash at its end, which the address of the document does not show.
	ctx = oidc.InsecureIssuerURLContext(oidc.ClientContext(ctx, s.way.Client(true)), issuer)
	found, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, endpoint.Failure(err, "%s could not be read", address)
	}
	var m metadata
	var text json.RawMessage
	if err := found.Claims(&m); err != nil {
		return nil, endpoint.Failure(err, "%s is not a discovery document", address)
	}
	if err := found.Claims(&text); err != nil {
		return nil, endpoint.Failure(err, "%s is not a discovery document", address)
	}
	if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") {
		return nil, fault.New(fault.Unavailable, "", "%s speaks of another issuer than its own address", address)
	}
	return &provider{
		issuer: m.Issuer, namesIssuer: m.NamesIssuer, authorization: m.Authorization, token: m.Token, revocation: m.Revocation,
		style: authStyle(m.Methods), document: text, read: s.now(),
	}, nil
}

// authStyle is how a client proves who it is at the token endpoint. Basic is
// what a provider has that does not say (RFC 8414, section 2).
func authStyle(methods []string) oauth2.AuthStyle {
	if len(methods) == 0 || slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}
