package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/auth"
	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/file/backend"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/migration"
	"armature/core/oauth"
	"armature/core/quota"
	"armature/core/ratelimit"
	"armature/core/route"
	"armature/core/share"
	"armature/core/site"
	"armature/core/store"
	"armature/core/web"
	"armature/core/web/resetmail"
)

// Tenant is one open site.
type Tenant struct {
	Site      *site.Site
	Store     document.Store
	Documents *document.Service
	Auth      *auth.Service
	Files     *file.Service
	Connected *connectedapp.Service
	OAuth     *oauth.Service
	Shares    *share.Service

	c       *Config
	home    Home
	log     *slog.Logger
	catalog *doctype.Catalog
	web     *web.Pages
	resets  *resetmail.Service
	limiter *ratelimit.Limiter
	quota   *quota.Meter
	plugins PluginSite
	invoker method.Invoker // of plugins; nil: there are none
	storage backend.Switch
	table   *method.Table
	routes  route.Table
	edge    atomic.Pointer[httpapi.Tenant]
	opened  closers

	format *migration.Database
	found  migration.State // of its database, when it was opened
	paused atomic.Pointer[string]
	looked atomic.Int64 // the version of the schema at which the site's state was read last

	withholding sync.Mutex // of withheld
	withheld    []string   // what this binary ships and the site has not, since it has its own of the name
}

// Home is where the site keeps what it has, as it was when it was opened.
func (t *Tenant) Home() Home { return t.home }

// Edge is what the edge sees of the site: an immutable value of now.
func (t *Tenant) Edge() *httpapi.Tenant { return t.edge.Load() }

// Methods runs the site's methods with the configuration of now.
func (t *Tenant) Methods() *method.Service { return t.edge.Load().Methods }

// Limiter is what bounds the site's requests and the CPU time of its plugins.
func (t *Tenant) Limiter() *ratelimit.Limiter { return t.limiter }

// Quota knows how much the site has of what its operator bounds.
func (t *Tenant) Quota() *quota.Meter { return t.quota }

// Log is the log of the site.
func (t *Tenant) Log() *slog.Logger { return t.log }

// Active reports whether the site has had a request lately. What another process
// has changed need not be looked for on one that has not: its next request does.
func (t *Tenant) Active() bool { return t.home.Active == nil || t.home.Active() }

// Formats are the format in which the site was found when it was opened, and the
// one that it has now.
func (t *Tenant) Formats() (from, now int64) { return t.format.From(), t.found.Format }

// Origin is the mark of the site that this one was made of by restoring an archive,
// or of itself; migration.State has it.
func (t *Tenant) Origin() string { return t.found.Lineage }

// Identity is that of the database, and of no other.
func (t *Tenant) Identity() string { return t.found.Identity }

// Configure has the site go by a configuration, if it is another one. Calls come
// one after the other.
func (t *Tenant) Configure(config *site.Config) {
	before := t.Site.Config()
	if before == config {
		return
	}
	t.Site.SetConfig(config)
	if !backend.Same(before, config) {
		if err := t.moveFiles(config); err != nil {
			t.log.Error("the files stay where they are", "error", err)
		}
	}
	t.publish()
	t.log.Info("configuration changed")
}

// publish makes what the edge sees of the site from its configuration.
func (t *Tenant) publish() {
	config := t.Site.Config()
	t.edge.Store(&httpapi.Tenant{
		Name:      t.Site.Name,
		Documents: t.Documents,
		Store:     t.Store,
		Methods: method.New(method.Config{
			Table: t.table, Invoker: t.invoker, Store: t.Store, Documents: t.Documents,
			OnDocuments: t.Connected.DocumentMethods(),
			Aliases:     config.Aliases(), Caller: t.Auth.Caller, Observe: observe, Logger: t.log,
		}),
		Begin:        web.Begin,
		ClearSession: web.ClearCookies,
		RenewSession: web.RenewSession,
		Authenticate: t.authenticate,
		Observe:      observe,
		Describe:     t.describe,
		Raw:          t.routes.Raw,
		Pages:        t.routes.Page,
		ErrorPage:    t.web.ServeError,
		Limiter:      t.limiter,
		Requests:     t.quota,

		AllowOrigin: t.OAuth.AllowOrigin, ResourceMetadata: t.OAuth.ResourceMetadata,
		MaxBody: config.MaxFileSize(), MaxGuestBody: config.MaxGuestBodySize(), Origins: config.Origins(),
	})
}

// setting is a key of the site's configuration as of now; nil when it is not set.
func (t *Tenant) setting(key string) json.RawMessage {
	value, _ := t.Site.Config().Get(key)
	return value
}

func (t *Tenant) authenticate(ctx context.Context, r *http.Request, argument func(string) any) (*identity.Caller, error) {
	if web.Forgets(r) {
		return identity.Anonymous(), nil
	}
	return t.Auth.Authenticate(auth.WithArguments(ctx, r, argument), r)
}

// RefreshPlugins takes over what other processes have changed of the site's
// plugins.
func (t *Tenant) RefreshPlugins(ctx context.Context) { t.plugins.Refresh(ctx) }

// Refresh takes over the DocTypes that other processes have changed, and what the
// database says of the site. Failures are logged: the next time tries again. It
// reports whether this binary may go on using the site: a newer version may have
// brought it to a format that this one may not use.
func (t *Tenant) Refresh(ctx context.Context) (usable bool) {
	usable = true
	err := t.Documents.Refresh(ctx)
	if now := t.Documents.Schema().Version; err == nil && t.looked.Load() != now {
		if usable, err = t.readState(ctx); err == nil {
			t.looked.Store(now)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.log.Error("look for changes of the site", "error", err)
	}
	return usable
}

// readState goes by what the database says of the site.
func (t *Tenant) readState(ctx context.Context) (usable bool, err error) {
	state, err := migration.Read(ctx, t.Store)
	if err != nil {
		return true, err
	}
	if _, err := t.format.Current(state); err != nil {
		return false, err
	}
	t.setPaused(state.Paused)
	return true, t.installWithheld(ctx)
}

// observe makes a context in which every statement is shown to fn.
func observe(ctx context.Context, fn func(sql string, args []any, took time.Duration)) context.Context {
	return store.WithObserver(ctx, fn)
}
