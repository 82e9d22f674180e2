package tenant

import (
	"context"
	"net/http"
	"time"

	"armature/core/auth"
	"armature/core/file/backend"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/mcp"
	"armature/core/method"
	"armature/core/site"
	"armature/core/store"
	"armature/core/web"
)

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
			Later:       t.Jobs,
			Mail:        t.Letters,
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
		Live:         t.Live,
		Requests:     t.quota,
		App:          t.apps.App,
		PageOrigin:   t.apps.Trusts,

		AllowOrigin: t.OAuth.AllowOrigin, ResourceMetadata: t.OAuth.ResourceMetadata, ResourceScope: mcp.ResourceScope,
		MaxBody: config.MaxFileSize(), MaxGuestBody: config.MaxGuestBodySize(), HeaderAliases: config.HeaderAliases(), Origins: config.Origins(),
	})
}

func (t *Tenant) authenticate(ctx context.Context, r *http.Request, argument func(string) any) (*identity.Caller, error) {
	if web.Forgets(r) {
		return identity.Anonymous(), nil
	}
	return t.Auth.Authenticate(auth.WithArguments(ctx, r, argument), r)
}

// observe makes a context in which every statement is shown to fn.
func observe(ctx context.Context, fn func(sql string, args []any, took time.Duration)) context.Context {
	return store.WithObserver(ctx, fn)
}
