package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
)

const clientName = "OAuth Client"

// client is an application as its document describes it. It is immutable.
type client struct {
	id        string
	host      string // of the address that is its id; empty: the site has made the id
	name      string
	policy    string // addresses of its pages; may be empty
	terms     string
	secret    string
	redirects []string // what a redirect URI must equal, the default included
	fallback  string   // the default; may be empty
	scopes    []string // what it may ask for
	usual     []string // what it asks for where it does not say
	codeFlow  bool     // it may use the authorization code flow
	trusted   bool     // Skip Authorization
	itself    bool     // it has registered itself, and no administrator trusts it
	service   string   // the user as whom it acts by itself; empty: it does not
	device    bool     // it may ask from a device without a browser
	logouts   []string // where a browser may go after a logout
	method    string
	algorithm string
	roles     []string // one of which a user needs; none: every user may
}

// The values of token_endpoint_auth_method. A client that names none shows its
// secret, either way; only one of the method None does without, and uses PKCE.
const (
	methodAny   = ""
	methodBasic = "Client Secret Basic"
	methodPost  = "Client Secret Post"
	methodNone  = "None"
)

// maxID is the longest client id that is worth a look-up.
const maxID = 140

// client finds a client; fosite.ErrNotFound when there is none.
func (s *Service) client(ctx context.Context, id string) (*client, error) {
	if id == "" || len(id) > maxID {
		return nil, fosite.ErrNotFound
	}
	if isAddress(id) {
		return s.holderOf(ctx, id)
	}
	if isApp(id) {
		return s.app(id)
	}
	v, err := s.c.Auth.Remember(ctx, "oauth client "+id, func(ctx context.Context) (any, error) {
		return s.readClient(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return v.(*client), nil
}

func (s *Service) readClient(ctx context.Context, id string) (*client, error) {
	sc := s.c.Catalog.Schema()
	dt, err := sc.Platform(clientName)
	if err != nil {
		return nil, err
	}
	var doc *doctype.Document
	err = s.c.Store.Read(ctx, func(tx document.Tx) (err error) {
		doc, err = tx.Get(ctx, sc, dt, id, false)
		return err
	})
	// A database may take "A" for "a".
	if fault.KindOf(err) == fault.NotFound || err == nil && doc.Name() != id {
		return nil, fosite.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.newClient(doc)
}

func (s *Service) newClient(doc *doctype.Document) (*client, error) {
	secret, err := s.unseal(doc)
	if err != nil {
		return nil, err
	}
	c := &client{
		id: doc.Name(), name: doc.Text("app_name"), secret: secret, policy: doc.Text("policy_uri"), terms: doc.Text("tos_uri"),
		redirects: strings.Fields(doc.Text("redirect_uris")), fallback: strings.TrimSpace(doc.Text("default_redirect_uri")),
		scopes:   scopeSet(doc.Text("scopes")),
		codeFlow: doc.Text("grant_type") != "Implicit" && doc.Text("response_type") != "Token",
		trusted:  doc.Bool("skip_authorization"), method: doc.Text("token_endpoint_auth_method"),
		algorithm: doc.Text("id_token_signed_response_alg"),
		service:   doc.Text("service_user"), device: doc.Bool("device_flow"), logouts: strings.Fields(doc.Text("post_logout_redirect_uris")),
	}
	if c.itself, c.usual = doc.Bool("registered") && !c.trusted, c.scopes; c.itself {
		c.usual = s.first(c.scopes)
	}
	if c.fallback != "" && !slices.Contains(c.redirects, c.fallback) {
		c.redirects = append(c.redirects, c.fallback)
	}
	for _, row := range doc.Rows("allowed_roles") {
		if role := row.Text("role"); role != "" {
			c.roles = append(c.roles, role)
		}
	}
	return c, nil
}

// answersAt reports whether an answer may go to a redirect URI.
func (c *client) answersAt(uri string) bool {
	return slices.Contains(c.redirects, uri) ||
		c.host != "" && slices.ContainsFunc(c.redirects, func(listed string) bool { return sameRedirect(listed, uri) })
}

// admits reports whether a user may let the client in.
func (c *client) admits(caller *identity.Caller) bool {
	return len(c.roles) == 0 || slices.ContainsFunc(c.roles, caller.HasRole)
}

// GetID is the client's id.
func (c *client) GetID() string { return c.id }

// GetHashedSecret is not asked: authenticate compares secrets.
func (c *client) GetHashedSecret() []byte { return nil }

// GetRedirectURIs are the URIs an answer may go to.
func (c *client) GetRedirectURIs() []string { return c.redirects }

// GetGrantTypes are those that the client may use.
func (c *client) GetGrantTypes() (all fosite.Arguments) {
	if c.codeFlow {
		all = fosite.Arguments{"authorization_code", "refresh_token"}
	}
	if c.service != "" {
		all = append(all, oauthstore.ClientCredentials)
	}
	if c.device {
		all = append(all, oauthstore.DeviceCode, "refresh_token")
	}
	return all
}

// GetResponseTypes are those of the code flow.
func (c *client) GetResponseTypes() fosite.Arguments {
	if !c.codeFlow {
		return nil
	}
	return fosite.Arguments{"code"}
}

// GetScopes are the scopes the client may ask for.
func (c *client) GetScopes() fosite.Arguments { return c.scopes }

// IsPublic reports whether the client has to use PKCE.
func (c *client) IsPublic() bool { return c.method == methodNone }

// GetAudience is empty: the audience parameter, which is no standard, is not
// offered.
func (c *client) GetAudience() fosite.Arguments { return nil }

// clientOf is the client of a request.
func clientOf(c fosite.Client) *client {
	found, _ := c.(*client)
	return found
}
