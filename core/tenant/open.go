package tenant

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"armature/core/auth"
	"armature/core/confirm"
	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/mcp"
	"armature/core/oauth"
	"armature/core/ratelimit"
	"armature/core/share"
	"armature/core/site"
	"armature/core/social"
	"armature/core/store"
	"armature/core/web"
	"armature/core/web/resetmail"
)

// Open opens a site: database, key, DocTypes, services, in this order. What was
// opened is closed again when a later step fails. Whoever gets the tenant closes
// it. c is Complete.
//
// Errors: home.Lost; those of migration.Database.Bring and of the database.
func Open(ctx context.Context, c *Config, home Home) (*Tenant, error) {
	t := &Tenant{c: c, home: home, log: c.Logger.With("site", home.Name), plugins: noPlugins{}}
	t.address = func() *site.Config { return t.Site.Config() }
	if err := t.openAll(ctx); err != nil {
		return nil, fmt.Errorf("open site %s: %w", home.Name, errors.Join(err, t.close()))
	}
	t.publish()
	t.opened.run("the sending of resets", t.resets.Run)
	t.opened.run("the sweep of sessions", t.sweep)
	t.measureQuotas()
	if err := t.remindJobs(ctx); err != nil {
		t.Close()
		return nil, fmt.Errorf("open site %s: %w", home.Name, err)
	}
	return t, nil
}

func (t *Tenant) openAll(ctx context.Context) (err error) {
	if err := t.openSite(ctx); err != nil {
		return err
	}
	t.openApps()
	t.openPeople()
	t.openQuota()
	t.openFrontends()
	if err := t.openFiles(); err != nil {
		return err
	}
	t.Shares = share.New(t.documents)
	if err := t.openPlugins(ctx); err != nil {
		return err
	}
	t.openSchedules()
	t.openWebhooks()
	t.openLetters()
	if err := t.openDocuments(); err != nil {
		return err
	}
	t.openConnected()
	t.openJobs()
	t.openLive()
	if err := t.register(); err != nil {
		return err
	}
	random, err := t.Auth.FirstPassword(ctx, t.c.Password)
	if random != "" && t.c.Announce != nil {
		t.c.Announce(t.home.Name, identity.Administrator, random)
	}
	return err
}

// openSite opens the database, brings it to the format of this binary, and with it
// the site's key and DocTypes.
func (t *Tenant) openSite(ctx context.Context) error {
	o := t.c.Store
	o.Logger, o.Slow = t.log, t.c.SlowStatement
	db, err := store.Open(ctx, t.home.Database, t.home.Schema, o)
	if err != nil {
		return err
	}
	t.opened.add("the database", db.Close)
	t.changes = db
	if t.Store = db; t.c.Wrap != nil {
		t.Store = t.c.Wrap(db)
	}
	now := func() time.Time { return t.c.Now().In(t.home.Config.Location()) } // the site comes with its key
	secret, schema, err := t.bring(ctx, now)
	if err != nil {
		return err
	}
	t.catalog = doctype.NewCatalog(schema)
	t.Site, err = site.New(site.Options{Name: t.home.Name, Config: t.home.Config, Secret: secret, Clock: t.c.Clock})
	return err
}

// openPeople makes what knows who somebody is: limits, logging in, pages, OAuth.
func (t *Tenant) openPeople() {
	t.limiter = ratelimit.New(t.Site, t.c.Counters, t.log)
	t.Auth = auth.New(auth.Config{
		Store: t.Store, Catalog: t.catalog, Secret: t.Site.Secret, Now: t.Site.Now, Hasher: t.c.Hasher,
		Setting: t.setting, Origins: t.origins, TrustsOrigin: func(origin string) bool { return t.Site.Config().TrustsOrigin(origin) },
		Schemes: map[string]auth.Scheme{"bearer": t.bearer}, Ended: t.endUser, Documents: t.documents,
		OtherWay: func(ctx context.Context, tx document.Tx, user string) (bool, error) {
			return t.Social.HasTie(ctx, tx, user)
		},
		MayInvite: func() error { return t.resets.MayInvite() }, Invite: func(up *auth.SignUp) { t.resets.Invite(up) },
	})
	t.resets = resetmail.New(resetmail.Config{
		Auth: t.Auth, Server: t.mailServer, Roots: t.c.MailRoots, Outgoing: t.Outgoing, Origin: t.address.For, Logger: t.log,
	})
	t.Social = social.New(social.Config{
		Store: t.Store, Catalog: t.catalog, Documents: t.documents, Auth: t.Auth, Secret: t.Site.Secret, Egress: t.c.Egress, Now: t.Site.Now,
		Base: t.address.Base, URL: t.address.URL, Setting: t.setting, Outgoing: t.Outgoing,
	})
	t.confirmations = confirm.New(confirm.Config{Store: t.Store, Catalog: t.catalog, Now: t.Site.Now, MAC: t.Site.Secret.MAC})
	t.web = web.New(web.Config{
		Social: t.Social, Confirmations: t.confirmations,
		Auth: t.Auth, Name: t.address.Name, Now: t.Site.Now, AskReset: t.resets.Ask, AskSignUp: t.resets.AskSignUp, AskCode: t.resets.AskCode, AskAddress: t.resets.AskAddress,
		LogoutByGet:  func() bool { value := string(t.setting("logout_by_get")); return value == "true" || value == "1" },
		Applications: func() web.Applications { return t.OAuth },
	})
	t.OAuth = oauth.New(oauth.Config{
		Store: t.Store, Catalog: t.catalog, Documents: t.documents, Secret: t.Site.Secret,
		Now: t.Site.Now, Auth: t.Auth, Pages: t.web, Name: t.address.Name, Base: t.address.Base, Logger: t.log,
		Parts: []oauth.Part{{Path: mcp.Path, On: func() bool { return t.Site.Config().MCP() }, Scopes: mcp.Scopes()}},
		Apps:  t.apps, Ours: t.address.Ours, Egress: t.c.Egress, PrivateHosts: func() []string { return t.Site.Config().PrivateHosts() },
		Remote: func(r *http.Request) auth.Remote { return web.Remote(r.RemoteAddr, r.Header) },
		Count: func(ctx context.Context, limit int64, address string) error {
			return t.limiter.Count(ctx, ratelimit.CallLimit{Limit: limit, Period: time.Hour}, oauth.Prefix+"register_client", address)
		},
	})
}

// origins are where the configuration says that the site is, its address in links first.
func (t *Tenant) origins() (all []string) {
	config := t.Site.Config()
	if u := config.URL(); u != "" {
		all = append(all, u)
	}
	for _, host := range config.Hosts() {
		all = append(all, config.URLFor(host), "https://"+host)
	}
	return all
}

// bearer and endUser are called by the authentication, which is made before the
// provider and used after it.
func (t *Tenant) bearer(ctx context.Context, r *http.Request, token string) (*identity.Caller, error) {
	return t.OAuth.Bearer(ctx, r, token)
}

func (t *Tenant) endUser(ctx context.Context, tx document.Tx, by *identity.Caller, user string) error {
	return t.OAuth.EndUser(ctx, tx, by, user)
}

// openPlugins opens the site's plugins, if there are any.
func (t *Tenant) openPlugins(ctx context.Context) error {
	if t.c.Plugins == nil {
		return nil
	}
	plugins, err := t.c.Plugins.Open(ctx, t)
	if err != nil {
		return err
	}
	t.plugins, t.invoker = plugins, plugins.Invoker()
	return nil
}

// openDocuments makes the door to documents, and hangs up the hooks of everybody
// who has some: guests stand between those of the platform that check and the last
// ones.
func (t *Tenant) openDocuments() error {
	protection, err := doctypes.Protection()
	if err != nil {
		return err
	}
	guests := t.plugins.Hooks()
	hooks := []document.Hooks{
		document.Platform(t.Auth.Hooks()), t.Shares.Hooks(), document.Platform(t.OAuth.Hooks()), t.Files.Hooks(),
		document.Platform(connectedapp.Hooks(t.catalog, t.Site.Secret, t.address.URL)), document.Platform(t.Social.Hooks()),
	}
	if guests != nil {
		hooks = append(hooks, guests)
	}
	hooks = append(hooks, document.Platform(t.Schedules.Hooks()), t.Webhooks.Hooks(), auth.Cascade(t.documents, guests), document.Platform(t.OAuth.Reveal()))
	t.Documents = document.NewService(document.ServiceConfig{
		Store: t.Store, Catalog: t.catalog, Hooks: hooks, ExtraAccess: t.Files, Sealer: t.Site.Secret, Now: t.Site.Now, Logger: t.log,
		Reserved: doctypes.Reserved, Protection: protection, RefuseUnknown: func() bool { return t.Site.Config().RefusesUnknown() },
		ReadOnly:  func() bool { return t.Site.Config().ReadOnly() },
		MaxAnswer: func() int { return t.Site.Config().MaxAnswerSize() }, Quota: t.quota,
	})
	return nil
}

// openConnected makes the site a client of others.
func (t *Tenant) openConnected() {
	t.Connected = connectedapp.New(connectedapp.Config{
		Store: t.Store, Catalog: t.catalog, Documents: t.Documents, Secret: t.Site.Secret, Egress: t.c.Egress, Now: t.Site.Now,
		Base: t.address.URL, Setting: t.setting, Outgoing: t.Outgoing, Login: web.LoginPath, ErrorPage: t.web.ServeError, Logger: t.log,
	})
	t.opened.add("the Connected Apps", func() error { t.Connected.Close(); return nil })
}
