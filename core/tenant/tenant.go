package tenant

import (
	"armature/core/confirm"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"armature/core/apps"
	"armature/core/auth"
	"armature/core/connectedapp"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/file/backend"
	"armature/core/httpapi"
	"armature/core/jobs"
	"armature/core/letter"
	"armature/core/live"
	"armature/core/method"
	"armature/core/migration"
	"armature/core/oauth"
	"armature/core/public/publish"
	"armature/core/quota"
	"armature/core/ratelimit"
	"armature/core/route"
	"armature/core/schedule"
	"armature/core/share"
	"armature/core/site"
	"armature/core/social"
	"armature/core/tenant/address"
	"armature/core/web"
	"armature/core/web/resetmail"
	"armature/core/webhook"
)

// Tenant is one open site.
type Tenant struct {
	Site      *site.Site
	Store     document.Store
	Documents *document.Service
	Auth      *auth.Service
	Files     *file.Service
	Connected *connectedapp.Service
	Social    *social.Service
	OAuth     *oauth.Service
	Shares    *share.Service
	Jobs      *jobs.Queue
	Schedules *schedule.Service
	Webhooks  *webhook.Service
	Live      *live.Service // nil: nobody is told what changes
	Letters   *letter.Service

	c             *Config
	home          Home
	log           *slog.Logger
	address       address.Of
	catalog       *doctype.Catalog
	changes       live.Log // of its database
	web           *web.Pages
	resets        *resetmail.Service
	limiter       *ratelimit.Limiter
	confirmations *confirm.Service
	quota         *quota.Meter
	plugins       PluginSite
	frontends     *publish.Versions
	apps          *apps.Service
	invoker       method.Invoker // of plugins; nil: there are none
	storage       backend.Switch
	table         *method.Table
	routes        route.Table
	edge          atomic.Pointer[httpapi.Tenant]
	opened        closers

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

// setting is a key of the site's configuration as of now; nil when it is not set.
func (t *Tenant) setting(key string) json.RawMessage {
	value, _ := t.Site.Config().Get(key)
	return value
}

// documents is for services that are made before the documents, and use them after.
func (t *Tenant) documents() *document.Service { return t.Documents }
