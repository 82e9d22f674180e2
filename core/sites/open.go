package sites

import (
	"context"
	"errors"
	"fmt"
	"time"

	"armature/core/auth"
	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/method"
	"armature/core/ratelimit"
	"armature/core/site"
	"armature/core/web"
)

// undo closes what was opened, the last first, where a later step fails.
type undo []func() error

func (u *undo) add(close func() error) { *u = append(*u, close) }

func (u undo) all() (err error) {
	for i := len(u) - 1; i >= 0; i-- {
		err = errors.Join(err, u[i]())
	}
	return err
}

// openTenant opens a site: database, key, DocTypes, services, in this order.
// What was opened is closed again when a later step fails.
func (s *Set) openTenant(ctx context.Context, r *Record) (*Tenant, error) {
	t := &Tenant{set: s, folder: r.Folder, log: s.c.Logger.With("site", r.Name), ended: make(chan struct{}), checking: newTurn()}
	t.releaser = t.release
	var opened undo
	if err := t.openAll(ctx, r, &opened); err != nil {
		return nil, fmt.Errorf("open site %s: %w", r.Name, errors.Join(err, opened.all()))
	}
	t.publish()
	t.startPost()
	t.startSweep()
	return t, nil
}

func (t *Tenant) openAll(ctx context.Context, r *Record, opened *undo) error {
	if r.Broken != nil {
		return r.Broken
	}
	if err := t.openSite(ctx, r, opened); err != nil {
		return err
	}
	t.openPeople()
	if err := t.openFiles(); err != nil {
		return errors.Join(err, t.storage.Close())
	}
	opened.add(t.storage.Close)
	t.Shares = t.newShares()
	guests, err := t.openPlugins(r, opened)
	if err != nil {
		return err
	}
	if err := t.openDocuments(guests); err != nil {
		return err
	}
	t.openConnected()
	own := [][]*method.Method{method.Framework(t.set.c.Version), t.userMethods(), t.shareMethods(), t.connectedMethods()}
	if t.table, err = method.NewTable(append(own, t.set.c.Methods...)...); err != nil {
		return err
	}
	return t.firstPassword(ctx)
}

// openSite opens the database, brings it to the format of this binary, and with it
// the site's key and DocTypes.
func (t *Tenant) openSite(ctx context.Context, r *Record, opened *undo) error {
	s := t.set
	lost := s.lost(r)
	if lost != nil && databaseGone(r.Place) {
		return lost
	}
	db, err := s.openStore(ctx, r.Place, t.log)
	if err != nil {
		return err
	}
	opened.add(db.Close)
	if t.Store = db; s.c.Wrap != nil {
		t.Store = s.c.Wrap(db)
	}
	now := func() time.Time { return s.now().In(r.Config.Location()) } // the site comes with its key
	secret, schema, err := s.prepare(ctx, t, now, lost)
	if err != nil {
		return err
	}
	t.catalog = doctype.NewCatalog(schema)
	t.Site, err = site.New(site.Options{Name: r.Name, Config: r.Config, Secret: secret, Clock: s.c.Clock})
	return err
}

// openPeople makes what knows who somebody is: limits, logging in, pages, OAuth.
func (t *Tenant) openPeople() {
	t.limiter = ratelimit.New(t.Site, t.set.c.Counters, t.log)
	t.Auth = auth.New(auth.Config{
		Store: t.Store, Catalog: t.catalog, Secret: t.Site.Secret, Now: t.Site.Now, Hasher: t.set.hasher,
		Setting: t.setting, TrustsOrigin: func(origin string) bool { return t.Site.Config().TrustsOrigin(origin) },
		Schemes: map[string]auth.Scheme{"bearer": t.bearer}, Ended: t.endUser,
	})
	t.web = web.New(web.Config{
		Auth: t.Auth, Name: t.displayName, Now: t.Site.Now, AskReset: t.askReset,
		Applications: func() web.Applications { return t.OAuth },
	})
	t.openOAuth(t.catalog, t.Site.Secret)
}

// openPlugins opens the site's plugins and returns their hooks; nil: there are none.
func (t *Tenant) openPlugins(r *Record, opened *undo) (guests document.Hooks, err error) {
	plugins := t.set.c.Plugins
	if plugins == nil {
		return nil, nil
	}
	if t.invoker, guests, err = plugins.Open(r.Name, r.Folder); err != nil {
		return nil, err
	}
	opened.add(func() error { plugins.Shut(r.Name); return nil })
	return guests, nil
}

// openDocuments makes the door to documents, and hangs up the hooks of everybody
// who has some: guests stand between those of the platform that check and the last
// ones.
func (t *Tenant) openDocuments(guests document.Hooks) error {
	protection, err := doctypes.Protection()
	if err != nil {
		return err
	}
	hooks := []document.Hooks{
		document.Platform(t.Auth.Hooks()), t.Shares.Hooks(), document.Platform(t.OAuth.Hooks()), t.Files.Hooks(),
		document.Platform(connectedapp.Hooks(t.catalog, t.Site.Secret, t.address)),
	}
	if guests != nil {
		hooks = append(hooks, guests)
	}
	hooks = append(hooks, departure{func() *document.Service { return t.Documents }, guests}, document.Platform(t.OAuth.Reveal()))
	t.Documents = document.NewService(document.ServiceConfig{
		Store: t.Store, Catalog: t.catalog, Hooks: hooks, Beyond: t.Files, Sealer: t.Site.Secret, Now: t.Site.Now, Logger: t.log,
		Reserved: doctypes.Reserved, Protection: protection, RefuseUnknown: func() bool { return t.Site.Config().RefusesUnknown() },
		MaxAnswer: func() int { return t.Site.Config().MaxAnswerSize() },
	})
	return nil
}

// openConnected makes the site a client of others.
func (t *Tenant) openConnected() {
	t.Connected = connectedapp.New(connectedapp.Config{
		Store: t.Store, Catalog: t.catalog, Documents: t.Documents, Secret: t.Site.Secret, Egress: t.set.c.Egress, Now: t.Site.Now,
		Base: t.address, Setting: t.setting, Outgoing: t.Outgoing, Logger: t.log,
	})
}

// address is where the site is, as it is configured.
func (t *Tenant) address() string { return t.Site.Config().URL() }
