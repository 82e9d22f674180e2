package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/handler/pkce"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/oauth/oauthstore"
	"armature/core/site"
)

// Config is what a Service needs.
type Config struct {
	Store     document.Store
	Catalog   *doctype.Catalog
	Documents func() *document.Service
	Secret    *site.Secret
	Now       func() time.Time // the site's clock
	Auth      *auth.Service
	Pages     Pages

	Name func() string // what the site is called on its pages

	// Base is the origin by which a request reached the site, or the one the site
	// is configured with: the issuer. It has no slash at the end.
	Base func(r *http.Request) string
	// Remote says where a request comes from.
	Remote func(r *http.Request) auth.Remote
	// Ours reports whether an address is on a host of the site's, or on the one that
	// a request was sent to.
	Ours func(r *http.Request, address string) bool
	// Egress fetches metadata of clients; PrivateHosts are patterns of the hosts on a
	// private network that the site allows to be asked.
	Egress       *egress.Client
	PrivateHosts func() []string
	// Apps are the plugins that have pages, each of which is a client; nil: there are none.
	Apps Apps
	// Count counts a registration from an address, or a document fetched for one, and refuses one too many within
	// an hour with a TooManyRequests fault; nil: no limit.
	Count func(ctx context.Context, limit int64, address string) error

	// Parts are those of the site that only take tokens which were asked for naming them.
	Parts []Part

	Logger *slog.Logger // nil: nothing is logged
}

// Apps are the plugins of a site that have pages.
type Apps interface {
	// Has reports whether a plugin is one.
	Has(plugin string) bool
	// Redirects are the redirect URIs of a plugin on the host that a request was sent to.
	Redirects(r *http.Request, plugin string) []string
	// Trusts reports whether their pages may be on an origin.
	Trusts(r *http.Request, origin string) bool
}

// Service is the provider of one site.
type Service struct {
	c         Config
	store     *oauthstore.Store
	config    *fosite.Config // fosite's handlers
	log       *slog.Logger
	addressed *addressed
	making    sync.Mutex // of the first key
}

// New makes the provider of a site.
func New(c Config) *Service {
	s := &Service{c: c, log: c.Logger, addressed: newAddressed()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.store = oauthstore.New(oauthstore.Config{
		Store: c.Store, Catalog: c.Catalog, Now: c.Now, Lifetimes: s.lifetimes,
		Client: func(ctx context.Context, id string) (fosite.Client, error) {
			found, err := s.client(ctx, id)
			if err != nil {
				return nil, err
			}
			return found, nil
		},
		Changed: c.Auth.Changed,
		Reused:  s.ending("Reuse", auth.Refused, byReuse, nil),
	})
	s.config = s.compose()
	return s
}

// compose puts fosite's handlers together by hand: the types are checked by the
// compiler, and nothing is on that is not named here. The order matters: PKCE and
// OpenID Connect need the code that the first handler makes.
func (s *Service) compose() *fosite.Config {
	config := &fosite.Config{
		RefreshTokenScopes:             []string{}, // nil would mean: only with offline_access
		OmitRedirectScopeParam:         true,
		EnforcePKCEForPublicClients:    true,
		EnablePKCEPlainChallengeMethod: true,
		ScopeStrategy:                  covered,
		MinParameterEntropy:            1,
		// Whether a redirect URI may be reached in clear text is decided when it is
		// entered, by an administrator or by the rules of registration.
		RedirectSecureChecker: nil,
	}
	settings := &configuration{Config: config, s: s}
	tokens := &strategy{s.c.Secret}
	code := &oauth2.AuthorizeExplicitGrantHandler{
		AccessTokenStrategy: tokens, RefreshTokenStrategy: tokens, AuthorizeCodeStrategy: tokens,
		CoreStorage: s.store, TokenRevocationStorage: s.store, Config: settings,
	}
	refresh := &oauth2.RefreshTokenGrantHandler{
		AccessTokenStrategy: tokens, RefreshTokenStrategy: tokens, TokenRevocationStorage: s.store, Config: settings,
	}
	id := &openid.IDTokenHandleHelper{IDTokenStrategy: idTokens{s}}
	explicit := &openid.OpenIDConnectExplicitHandler{
		OpenIDConnectRequestStorage:   s.store,
		OpenIDConnectRequestValidator: openid.NewOpenIDConnectRequestValidator(nil, settings),
		Config:                        settings, IDTokenHandleHelper: id,
	}
	proof := &pkce.Handler{AuthorizeCodeStrategy: tokens, Storage: s.store, Config: settings}
	config.AuthorizeEndpointHandlers = fosite.AuthorizeEndpointHandlers{code, explicit, proof}
	itself := &oauth2.ClientCredentialsGrantHandler{
		HandleHelper: &oauth2.HandleHelper{AccessTokenStrategy: tokens, AccessTokenStorage: s.store, Config: settings}, Config: settings,
	}
	config.TokenEndpointHandlers = fosite.TokenEndpointHandlers{
		code, refresh, itself, &deviceGrant{s, id}, explicit, &openid.OpenIDConnectRefreshHandler{IDTokenHandleHelper: id, Config: settings}, proof,
	}
	return config
}

// provider is fosite for one request. Who the client is has been found out, and is
// what fosite is told when it asks its storage or its configuration.
func (s *Service) provider(c *client) *fosite.Fosite {
	return &fosite.Fosite{Store: oneClient{c}, Config: &configuration{Config: s.config, s: s, client: c}}
}

// oneClient is the storage of clients for a request of one.
type oneClient struct{ c *client }

func (o oneClient) GetClient(_ context.Context, id string) (fosite.Client, error) {
	if id != o.c.id {
		return nil, fosite.ErrNotFound
	}
	return o.c, nil
}

// ClientAssertionJWTValid and SetClientAssertionJWT are for client assertions,
// which are not offered.
func (oneClient) ClientAssertionJWTValid(context.Context, string) error { return fosite.ErrNotFound }

func (oneClient) SetClientAssertionJWT(context.Context, string, time.Time) error { return nil }

// configuration is fosite's, with what a site may change read anew each time.
type configuration struct {
	*fosite.Config
	s      *Service
	client *client // of the request; nil where none is asked for
}

// GetClientAuthenticationStrategy answers with the client that was authenticated.
func (c *configuration) GetClientAuthenticationStrategy(context.Context) fosite.ClientAuthenticationStrategy {
	return func(context.Context, *http.Request, url.Values) (fosite.Client, error) { return c.client, nil }
}

func (c *configuration) GetAccessTokenLifespan(ctx context.Context) time.Duration {
	return c.lifetimes(ctx).Access
}

func (c *configuration) GetIDTokenLifespan(ctx context.Context) time.Duration {
	return c.lifetimes(ctx).Access
}

func (c *configuration) GetRefreshTokenLifespan(ctx context.Context) time.Duration {
	return c.lifetimes(ctx).Refresh
}

func (c *configuration) GetAuthorizeCodeLifespan(ctx context.Context) time.Duration {
	return c.lifetimes(ctx).Code
}

// lifetimes cannot fail here; the store fails where they cannot be read.
func (c *configuration) lifetimes(ctx context.Context) oauthstore.Lifetimes {
	l, _ := c.s.lifetimes(ctx)
	return l
}

// Prefix begins the dotted paths of the endpoints.
const Prefix = "framework.integrations.oauth2."

// Endpoint answers one request. It writes its own refusals, in the form of RFC
// 6749; an error is a failure of the server, and then nothing was written.
type Endpoint func(w http.ResponseWriter, r *http.Request) error
