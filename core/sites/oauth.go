package sites

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
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
		Now: t.Site.Now, Auth: t.Auth, Pages: t.web, Name: t.displayName, Base: t.base, Logger: t.log,
		Ours: t.ours, Egress: t.set.c.Egress, PrivateHosts: func() []string { return t.Site.Config().PrivateHosts() },
		Origin: func(r *http.Request) auth.Origin { return web.Origin(r.RemoteAddr, r.Header) },
		Count: func(ctx context.Context, limit int64, address string) error {
			return t.limiter.Count(ctx, ratelimit.CallLimit{Limit: limit, Period: time.Hour}, oauth.Prefix+"register_client", address)
		},
	})
}

// ours reports whether an address is on a host of the site's: listed, the one its
// pages are at, or the one a request was sent to. On this device, where everything
// has the same host, the port counts as well.
func (t *Tenant) ours(r *http.Request, address string) bool {
	a, err := url.Parse(address)
	if err != nil {
		return true
	}
	config := t.Site.Config()
	for _, own := range []string{config.URL(), t.base(r), "http://" + r.Host} {
		u, err := url.Parse(own)
		if err == nil && sameName(u.Hostname(), a.Hostname()) && (!onDevice(a.Hostname()) || u.Port() == a.Port()) {
			return true
		}
	}
	return slices.ContainsFunc(config.Hosts(), func(host string) bool { return sameName(host, a.Hostname()) && !onDevice(host) })
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

func onDevice(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || strings.EqualFold(host, "localhost")
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
		Roles: []string{identity.SystemManager}, Writes: true, Tier: method.Credentials,
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
