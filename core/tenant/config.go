package tenant

import (
	"crypto/x509"
	"log/slog"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/file"
	"armature/core/jobs"
	"armature/core/live"
	"armature/core/method"
	"armature/core/metrics"
	"armature/core/migration"
	"armature/core/ratelimit"
	"armature/core/site"
	"armature/core/store"
)

// Config is what every site of a process is opened with.
type Config struct {
	Master   *site.Master
	Version  string
	Plugins  Plugins             // nil: no plugins
	Methods  [][]*method.Method  // groups beside the framework's own
	Counters *ratelimit.Counters // of the rate limits; nil: in this process alone
	Egress   *egress.Client      // for what the sites ask of others; nil: one of its own
	Shrinker *file.Shrinker      // of all sites: it bounds the memory of images; nil: one of its own
	Hasher   *auth.Hasher        // of all sites: it bounds what logging in costs the others; nil: one of its own
	Logger   *slog.Logger        // nil: nothing is logged
	Clock    func() time.Time    // of the sites; nil: the system's

	Store store.Options                       // of their databases, but for the logger
	Wrap  func(document.Store) document.Store // stands before a site's database, in tests; nil: nothing does

	// Live has pages of every site's frontend load themselves again when a file of it was
	// saved, whatever the site's setting says: for a server on which one is being written.
	Live bool

	Quotas *metrics.Quotas // shows what open sites have of what they have quotas for; nil: nobody does

	// Jobs runs what sites have to do after requests; nil: what they keep waits for a
	// process that has one.
	Jobs jobs.Pump

	// Delivered counts what was sent from sites, by kind and by what became of it; nil:
	// nobody does.
	Delivered func(kind, result string)

	// Streams are those of the process, over which clients are told what changes; nil:
	// nobody is.
	Streams *live.Process

	// SlowStatement tells how long an SQL statement may take before it is logged;
	// 0, and nil: none is.
	SlowStatement func() time.Duration

	MailRoots *x509.CertPool // who may vouch for mail servers; nil: the system's

	// PassphraseWork is the logarithm of what a guess of a backup's passphrase
	// costs; 0: about a second.
	PassphraseWork int

	// Plan changes what this binary knows of formats; nil: it is as it was built. It
	// is how one program is two versions of itself.
	Plan func(migration.Plan) migration.Plan

	// Password is the Administrator's password on a site that has none yet;
	// empty: a random one. Announce is told what was chosen at random, once.
	Password string
	Announce func(site, user, password string)
}

// Complete fills in what c leaves to this package.
func (c Config) Complete() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Counters == nil {
		c.Counters = ratelimit.Local()
	}
	if c.Egress == nil {
		c.Egress = egress.New(egress.Config{})
	}
	if c.Shrinker == nil {
		c.Shrinker = file.NewShrinker(1)
	}
	if c.Hasher == nil {
		c.Hasher = auth.NewHasher()
	}
	return c
}

// Now is the clock of the sites.
func (c *Config) Now() time.Time {
	if c.Clock == nil {
		return time.Now()
	}
	return c.Clock()
}

// Home is where a site keeps what it has.
type Home struct {
	Name   string // of the site
	Config *site.Config

	Folder           string // name of its folder on each machine, and of its part of a bucket
	Dir              string // path of its folder on this machine
	Files            string // path of its files on this machine, where they are on disk
	Plugins          string // path of the plugins that serve it alone
	Public           string // path of its frontend on this machine
	Published        string // path of the frontends that were published
	Database, Schema string // a URL, or a path; and in PostgreSQL the schema

	// Lost is the answer where the database turns out to be empty; nil: the site
	// begins with an empty one.
	Lost error
	// Active reports whether the site has had a request lately; nil: it always has.
	Active func() bool
	// Retired reports whether the site is to be closed once nobody holds it; nil: it
	// never is.
	Retired func() bool
}
