package host

import (
	"context"
	"net/http"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/oauth"
	"armature/core/proxy"
	"armature/core/ratelimit"
	"armature/core/site"
	"armature/core/web"
)

// openOAuth makes the site's OAuth provider.
func (t *Tenant) openOAuth(catalog *doctype.Catalog, secret *site.Secret) {
	t.OAuth = oauth.New(oauth.Config{
		Store: t.Store, Catalog: catalog, Documents: func() *document.Service { return t.Documents }, Secret: secret,
		Now: t.Site.Now, Auth: t.Auth, Pages: t.web, Base: t.base, Logger: t.log,
		Origin: func(r *http.Request) auth.Origin { return web.Origin(r.RemoteAddr, r.Header) },
		Count: func(ctx context.Context, limit int64, address string) error {
			return t.limiter.Count(ctx, ratelimit.CallLimit{Limit: limit, Period: time.Hour}, oauth.Prefix+"register_client", address)
		},
	})
}

// bearer and endUser are called by the authentication, which is made before the
// provider and used after it.
func (t *Tenant) bearer(ctx context.Context, token string) (*identity.Caller, error) {
	return t.OAuth.Bearer(ctx, token)
}

func (t *Tenant) endUser(ctx context.Context, tx document.Tx, by *identity.Caller, user string) error {
	return t.OAuth.EndUser(ctx, tx, by, user)
}

// rawOAuth serves an endpoint of the provider, which reads credentials itself.
func rawOAuth(endpoint oauth.Endpoint) *httpapi.Raw {
	return &httpapi.Raw{
		NoCredentials: true,
		Serve: func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
			return endpoint(w, r.WithContext(oauth.WithNames(r.Context(), call.Names)))
		},
		Fail: oauth.Fail,
	}
}

// base is the origin of the site: its setting host_name, or else the one the
// request was sent to.
func (t *Tenant) base(r *http.Request) string {
	if config := t.Site.Config(); config.Named() {
		return config.URL()
	}
	scheme := "http"
	if proxy.Secure(r) {
		scheme = "https"
	}
	return scheme + "://" + strings.ToLower(r.Host)
}

// rotateSecret is the method that gives an OAuth client another secret.
func (t *Tenant) rotateSecret() *method.Method {
	return &method.Method{
		Path: oauth.Prefix + "rotate_client_secret", Verbs: []string{http.MethodPost},
		Roles: []string{identity.SystemManager}, Writes: true, Credentials: true,
		Description: "Gives an OAuth client another secret, which is shown this once. The one before it stops working.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			id, err := call.Args.Need("client_id")
			if err != nil {
				return nil, err
			}
			secret, err := t.OAuth.RotateSecret(ctx, call.Tx, call.Caller, id)
			if err != nil {
				return nil, err
			}
			return map[string]string{"client_id": id, "client_secret": secret}, nil
		},
	}
}
