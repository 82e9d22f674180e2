package sites

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
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/migration"
	"armature/core/oauth"
	"armature/core/ratelimit"
	"armature/core/share"
	"armature/core/site"
	"armature/core/store"
	"armature/core/web"
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

	set      *Set
	entry    *entry
	format   *migration.Site
	web      *web.Pages
	log      *slog.Logger
	folder   string          // name of its folder
	found    migration.State // of its database, when it was opened
	paused   atomic.Pointer[string]
	catalog  *doctype.Catalog
	storage  *movable
	stopPost func() // waits for it

	stopAuthSweep func() // waits for it
	wishes        chan wish
	invoker       method.Invoker
	table         *method.Table
	limiter       *ratelimit.Limiter
	edge          atomic.Pointer[httpapi.Site]
	pins          pins
	releaser      func() // release, bound once
	used          usage
	ended         chan struct{} // closed when it is closed

	looked   atomic.Int64 // the version of the schema at which the site's state was read last
	lacks    sync.Mutex   // of withheld
	withheld []string     // what this binary ships and the site has not, since it has its own of the name

	checked  atomic.Int64 // the tick at which changes of others were taken over
	checking turn
}

// Methods runs the site's methods with the configuration of now.
func (t *Tenant) Methods() *method.Service { return t.edge.Load().Methods }

// Formats are the format in which the site was found when it was opened, and the
// one that it has now.
func (t *Tenant) Formats() (from, now int64) { return t.format.From(), t.found.Format }

// Limiter is what bounds the site's requests and the CPU time of its plugins.
func (t *Tenant) Limiter() *ratelimit.Limiter { return t.limiter }

// now is the clock of the sites.
func (s *Set) now() time.Time {
	if s.c.Clock == nil {
		return time.Now()
	}
	return s.c.Clock()
}

// publish makes what the edge sees of the site from its configuration.
func (t *Tenant) publish() {
	config := t.Site.Config()
	t.edge.Store(&httpapi.Site{
		Name:      t.Site.Name,
		Documents: t.Documents,
		Store:     t.Store,
		Methods: method.New(method.Config{
			Table: t.table, Invoker: t.invoker, Store: t.Store, Documents: t.Documents,
			OnDocuments: t.connectedOnDocuments(),
			Aliases:     config.Aliases(), Caller: t.Auth.Caller, Observe: observe, Logger: t.log,
		}),
		Begin:        begin,
		ClearSession: web.ClearCookies,
		RenewSession: renewSession,
		Authenticate: t.authenticate,
		Observe:      observe,
		Describe:     t.describe,
		Raw:          t.raw,
		Pages:        t.page,
		ErrorPage:    t.web.ServeError,
		Limiter:      t.limiter,

		AllowOrigin: t.OAuth.AllowOrigin, ResourceMetadata: t.OAuth.ResourceMetadata,
		MaxBody: config.MaxFileSize(), Origins: config.Origins(),
	})
}

// setting is a key of the site's configuration as of now; nil when it is not set.
func (t *Tenant) setting(key string) json.RawMessage {
	value, _ := t.Site.Config().Get(key)
	return value
}

// observe makes a context in which every statement is shown to fn.
func observe(ctx context.Context, fn func(sql string, args []any, took time.Duration)) context.Context {
	return store.WithObserver(ctx, fn)
}

func (t *Tenant) authenticate(ctx context.Context, r *http.Request, argument func(string) any) (*identity.Caller, error) {
	if web.Forgets(r) {
		return identity.Anonymous(), nil
	}
	return t.Auth.Authenticate(auth.WithArguments(ctx, r, argument), r)
}

// configure has the site go by a configuration, if it is another one.
func (t *Tenant) configure(config *site.Config) {
	before := t.Site.Config()
	if before == config {
		return
	}
	t.Site.SetConfig(config)
	if !sameStorage(before, config) {
		if err := t.moveFiles(config); err != nil {
			t.log.Error("the files stay where they are", "error", err)
		}
	}
	t.publish()
	t.log.Info("configuration changed")
}

// refresh takes over the DocTypes that other processes have changed, on behalf of
// everybody until after the tick. Where a newer version has brought the site to a
// format that this one may not use, the site is closed: the next request is told.
func (t *Tenant) refresh(ctx context.Context, tick int64) {
	err := t.Documents.Refresh(ctx)
	if now := t.Documents.Schema().Version; err == nil && t.looked.Load() != now {
		if err = t.stillOurs(ctx); err == nil {
			t.looked.Store(now)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.log.Error("look for changes of the site", "error", err)
	}
	t.checked.Store(tick)
}

// stillOurs looks at what the site says of itself. Where this binary may not use it
// any more the site is closed.
func (t *Tenant) stillOurs(ctx context.Context) error {
	state, err := migration.Read(ctx, t.Store)
	if err != nil {
		return err
	}
	if _, err := t.format.Current(state); err != nil {
		t.set.close(t.entry)
		return err
	}
	t.pause(state.Paused)
	return t.installWithheld(ctx)
}

// catchUp takes over what other processes have changed since the last request on
// a site that has had none for a while: nobody looks at such a site. Where that
// takes too long the request goes on with what is known.
func (t *Tenant) catchUp(ctx context.Context) {
	if t.checking.take(ctx) != nil {
		return // the client has left
	}
	defer t.checking.give()
	tick := t.set.tick.Load()
	if t.checked.Load() >= tick {
		return // somebody else has done it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout) // others wait for it
	defer cancel()
	if t.set.c.Plugins != nil {
		t.set.c.Plugins.Refresh(ctx, t.Site.Name)
	}
	t.refresh(ctx, tick)
}
