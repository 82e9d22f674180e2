package social

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"armature/core/egress/endpoint"
	"armature/core/fault"
)

const (
	// wellKnown is what a discovery document's address ends in (OpenID Connect Discovery
	// 1.0, section 4).
	wellKnown = "/.well-known/openid-configuration"
	// discoveryLife is how long a discovery document counts before it is read again.
	discoveryLife = time.Hour
)

// Where providers are that have one place for everybody.
const (
	googleIssuer   = "https://accounts.google.com"
	gitHubBase     = "https://github.com"
	gitHubAPI      = "https://api.github.com"
	microsoftBase  = "https://login.microsoftonline.com"
	consumerTenant = "9188040d-6c67-4c5b-b112-36a304b66dad" // of people's own Microsoft accounts
)

// place finds where the provider of a key is: its preset's place, or as the key says.
func (k *key) place(discovery, base string) {
	switch k.kind {
	case google:
		k.issuer = googleIssuer
		if base != "" {
			k.issuer = base
		}
	case microsoft:
		if base == "" {
			base = microsoftBase
		}
		k.base = base
		k.issuer = base + "/" + k.tenant + "/v2.0"
	case gitHub:
		if k.base = base; base == "" {
			k.base = gitHubBase
		}
	default:
		k.issuer = strings.TrimSuffix(discovery, wellKnown)
	}
}

// provider is where a provider's endpoints are, and how it signs.
type provider struct {
	issuer        string // empty: it signs nothing
	namesIssuer   bool   // it always says who it is in its answer (RFC 9207)
	authorization string
	token         string
	userinfo      string
	emails        string // of GitHub's
	style         oauth2.AuthStyle
	algorithms    []string
	keys          oidc.KeySet
	pattern       *regexp.Regexp // that issuers match, of a provider that has many; nil: it has one
	read          time.Time
}

// metadata are the members of a discovery document which count here.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Userinfo      string   `json:"userinfo_endpoint"`
	Keys          string   `json:"jwks_uri"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// provider finds the endpoints of a key's provider. When it does not answer, what it said
// last goes on counting.
func (s *Service) provider(ctx context.Context, k *key) (*provider, error) {
	if k.kind == gitHub {
		return gitHubAt(k.base), nil
	}
	at := k.kind + " " + k.issuer
	s.mu.Lock()
	known := s.known[at]
	s.mu.Unlock()
	if known != nil && s.c.Now().Sub(known.read) < discoveryLife {
		return known, nil
	}
	fresh, err := s.discover(ctx, k)
	if err != nil {
		if known != nil {
			return known, nil
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= 4*maxKeys {
		clear(s.known)
	}
	s.known[at] = fresh
	return fresh, nil
}

// discover reads a discovery document. Its keys are read when they are needed, and again
// when a token names one that is not known.
func (s *Service) discover(ctx context.Context, k *key) (*provider, error) {
	address := k.issuer + wellKnown
	if err := s.way.Check(address); err != nil {
		return nil, err
	}
	client := s.way.Client(true)
	// The issuer is compared here and not by the library: some write theirs with a slash at
	// its end, and Microsoft's is a pattern.
	found, err := oidc.NewProvider(oidc.InsecureIssuerURLContext(oidc.ClientContext(ctx, client), k.issuer), k.issuer)
	if err != nil {
		return nil, endpoint.Failure(err, "%s could not be read", address)
	}
	var m metadata
	if err := found.Claims(&m); err != nil {
		return nil, endpoint.Failure(err, "%s is not a discovery document", address)
	}
	p := &provider{
		issuer: m.Issuer, namesIssuer: m.NamesIssuer, authorization: m.Authorization, token: m.Token, userinfo: m.Userinfo,
		style: styleOf(m.Methods), algorithms: asymmetric(m.Algorithms), read: s.c.Now(),
	}
	if k.kind == microsoft {
		p.pattern = microsoftIssuers(k, m.Issuer)
	}
	if p.pattern == nil && strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(k.issuer, "/") {
		return nil, fault.New(fault.Unavailable, "", "%s speaks of another issuer than its own address", address)
	}
	for what, one := range map[string]string{"authorization_endpoint": m.Authorization, "token_endpoint": m.Token, "jwks_uri": m.Keys} {
		if one == "" {
			return nil, fault.New(fault.Unavailable, "", "%s names no %s", address, what)
		}
		if err := s.way.Check(one); err != nil {
			return nil, err
		}
	}
	// The keys outlive the request by which they are asked for first.
	p.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), client), m.Keys)
	return p, nil
}

// asymmetric are the algorithms of a provider that need no secret of ours: one that says
// HS256 does not have tokens checked with what everybody can read at jwks_uri.
func asymmetric(said []string) (list []string) {
	for _, one := range []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA} {
		if slices.Contains(said, one) {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return []string{oidc.RS256} // OpenID Connect Discovery 1.0, section 3: it must be there
	}
	return list
}

// styleOf is how the site proves who it is at the token endpoint. Basic is what a provider
// has that does not say (OpenID Connect Discovery 1.0, section 3).
func styleOf(methods []string) oauth2.AuthStyle {
	if len(methods) == 0 || slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// microsoftIssuers is what issuers of a key's tenant match: each tenant issues as itself,
// also where the key speaks to all of them, where the document has {tenantid} in its
// place. What else the document names is no issuer of Microsoft's.
func microsoftIssuers(k *key, said string) *regexp.Regexp {
	const guid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	before, after := regexp.QuoteMeta(k.base+"/"), regexp.QuoteMeta("/v2.0")
	own := regexp.MustCompile("^" + before + "(" + guid + ")" + after + "$")
	if own.MatchString(said) {
		return regexp.MustCompile("^" + regexp.QuoteMeta(said) + "$")
	}
	if said == k.base+"/{tenantid}/v2.0" {
		return own
	}
	return nil
}

// answers reports whether an answer to the browser that names iss can be this provider's
// (RFC 9207, section 2.4).
func (p *provider) answers(iss string) bool {
	switch {
	case p.issuer == "":
		return true // nobody has said who it is; the redirect URI is this key's alone
	case iss == "":
		return !p.namesIssuer
	}
	if p.pattern != nil {
		return p.pattern.MatchString(iss)
	}
	return iss == p.issuer
}

// config is what the OAuth library needs to speak for a key.
func (p *provider) config(k *key, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: k.clientID, ClientSecret: k.clientSecret, RedirectURL: redirect, Scopes: k.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: p.authorization, TokenURL: p.token, AuthStyle: p.style},
	}
}
