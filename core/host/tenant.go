package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"armature/core/auth"
	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/doctypes"
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
	folder   string // name of its folder
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

	checked  atomic.Int64 // the tick at which changes of others were taken over
	checking turn
}

// Methods runs the site's methods with the configuration of now.
func (t *Tenant) Methods() *method.Service { return t.edge.Load().Methods }

// Limiter is what bounds the site's requests and the CPU time of its plugins.
func (t *Tenant) Limiter() *ratelimit.Limiter { return t.limiter }

// openTenant opens a site: database, key, DocTypes, services, in this order.
// What was opened is closed again when a later step fails.
func (s *Set) openTenant(ctx context.Context, r *Record) (t *Tenant, err error) {
	name, config := r.Name, r.Config
	defer func() {
		if err != nil {
			err = fmt.Errorf("open site %s: %w", name, err)
		}
	}()
	t = &Tenant{set: s, folder: r.Folder, log: s.c.Logger.With("site", name), ended: make(chan struct{}), checking: newTurn()}
	t.releaser = t.release
	if r.Broken != nil {
		return nil, r.Broken
	}
	lost := s.lost(r)
	if lost != nil && databaseGone(r.Place) {
		return nil, lost
	}
	db, err := s.openStore(ctx, r.Place, t.log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	t.Store = db
	now := func() time.Time { return s.now().In(config.Location()) } // the site comes with its key
	secret, schema, err := s.prepare(ctx, t, now, lost)
	if err != nil {
		return nil, err
	}
	if t.Site, err = site.New(site.Options{Name: name, Config: config, Secret: secret, Clock: s.c.Clock}); err != nil {
		return nil, err
	}
	t.limiter = ratelimit.New(t.Site, s.c.Counters, t.log)
	catalog := doctype.NewCatalog(schema)
	t.Auth = auth.New(auth.Config{
		Store: t.Store, Catalog: catalog, Secret: secret, Now: t.Site.Now, Hasher: s.hasher,
		Setting: t.setting,
		Schemes: map[string]auth.Scheme{"bearer": t.bearer}, Ended: t.endUser,
	})
	t.web = web.New(web.Config{
		Auth: t.Auth, Name: t.displayName, Now: t.Site.Now, AskReset: t.askReset,
		Applications: func() web.Applications { return t.OAuth },
	})
	t.openOAuth(catalog, secret)
	err = t.openFiles()
	files := t.storage // a return sets t before what is deferred runs
	defer func() {
		if err != nil {
			err = errors.Join(err, files.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	address := func() string { return t.Site.Config().URL() }
	t.Shares = t.newShares()
	hooks := []document.Hooks{
		document.Platform(t.Auth.Hooks()), t.Shares.Hooks(), document.Platform(t.OAuth.Hooks()), t.Files.Hooks(),
		document.Platform(connectedapp.Hooks(catalog, secret, address)),
	}
	var guests document.Hooks
	if s.c.Plugins != nil {
		if t.invoker, guests, err = s.c.Plugins.Open(name, r.Folder); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.c.Plugins.Shut(name)
			}
		}()
		if guests != nil {
			hooks = append(hooks, guests)
		}
	}
	hooks = append(hooks, departure{func() *document.Service { return t.Documents }, guests}, document.Platform(t.OAuth.Reveal()))
	protection, err := doctypes.Protection()
	if err != nil {
		return nil, err
	}
	t.Documents = document.NewService(document.ServiceConfig{
		Store: t.Store, Catalog: catalog, Hooks: hooks, Beyond: t.Files, Sealer: secret, Now: t.Site.Now, Logger: t.log,
		Reserved: doctypes.Reserved, Protection: protection,
	})
	t.Connected = connectedapp.New(connectedapp.Config{
		Store: t.Store, Catalog: catalog, Documents: t.Documents, Secret: secret, Egress: s.c.Egress, Now: t.Site.Now,
		Base: address, Setting: t.setting, Logger: t.log,
	})
	t.table, err = method.NewTable(append([][]*method.Method{method.Framework(s.c.Version), t.userMethods(), t.shareMethods(), t.connectedMethods()}, s.c.Methods...)...)
	if err != nil {
		return nil, err
	}
	if err := t.firstPassword(ctx); err != nil {
		return nil, err
	}
	t.publish()
	t.startPost()
	t.startSweep()
	return t, nil
}

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
		MaxBody: config.MaxFileSize(),
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
	before := t.Documents.Schema().Version
	err := t.Documents.Refresh(ctx)
	if err == nil && t.Documents.Schema().Version != before {
		err = t.stillOurs(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.log.Error("look for changes of the site", "error", err)
	}
	t.checked.Store(tick)
}

// stillOurs closes the site where this binary may not use it any more.
func (t *Tenant) stillOurs(ctx context.Context) error {
	state, err := migration.Read(ctx, t.Store)
	if err != nil {
		return err
	}
	if _, err = t.format.Current(state); err != nil {
		t.set.close(t.entry)
	}
	return err
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
