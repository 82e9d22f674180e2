package sites

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/file"
	"armature/core/httpapi"
	"armature/core/method"
	"armature/core/migration"
	"armature/core/proxy"
	"armature/core/ratelimit"
	"armature/core/site"
	"armature/core/store"
)

// pollEvery is how often the set looks for what other processes have changed.
const pollEvery = time.Second

// DefaultIdle is how long a site stays open without a request.
const DefaultIdle = 5 * time.Minute

// Config is what a Set needs.
type Config struct {
	Layout   Layout
	Database string // URL of a PostgreSQL database; empty: a SQLite file per site
	Registry string // schema of the database that lists the sites; empty: DefaultRegistry
	Master   *site.Master
	Version  string
	Plugins  Plugins             // nil: no plugins
	Methods  [][]*method.Method  // groups beside the framework's own
	Counters *ratelimit.Counters // of the rate limits; nil: in this process alone
	Egress   *egress.Client      // for what the sites ask of others; nil: one of its own
	Logger   *slog.Logger
	Clock    func() time.Time                    // of the sites; nil: the system's
	Store    store.Options                       // of their databases, but for the logger
	Wrap     func(document.Store) document.Store // stands before a site's database, in tests; nil: nothing does
	Idle     time.Duration                       // how long a site stays open without a request; 0: DefaultIdle, below 0: for ever

	// SlowStatement tells how long an SQL statement may take before it is logged;
	// 0, and nil: none is.
	SlowStatement func() time.Duration

	MailRoots *x509.CertPool // who may vouch for mail servers; nil: the system's

	// PassphraseWork is the logarithm of what a guess of a backup's passphrase
	// costs; 0: about a second.
	PassphraseWork int

	// Recreate lets sites whose database is missing begin with an empty one.
	Recreate bool

	// Backups is how archives of the sites are made by schedule (KeepBackups).
	Backups Backups

	// Plan changes what this binary knows of formats; nil: it is as it was built. It
	// is how one program is two versions of itself.
	Plan func(migration.Plan) migration.Plan

	// Password is the Administrator's password on a site that has none yet;
	// empty: a random one. Announce is told what was chosen at random, once.
	Password string
	Announce func(site, user, password string)
}

// Plugins runs the plugins of every site.
type Plugins interface {
	// Open adds a site, whose folder has a name, and returns its methods and its
	// hooks, which may be nil.
	Open(site, folder string) (method.Invoker, document.Hooks, error)
	// Refresh takes over what the site's database says of plugins. It is called
	// once the services of a site can be used and before its first request, and
	// before a request that comes after a while without any.
	Refresh(ctx context.Context, site string)
	// Shut removes a site that is put to sleep or dropped.
	Shut(site string)
	// Forget drops what is kept of a site that sleeps; it has been dropped.
	Forget(site string)
}

// Set is the sites of a process. A site is opened by its first request and put
// to sleep when it has had none for a while.
type Set struct {
	c        Config
	registry Registry

	table  atomic.Pointer[table]
	ctx    context.Context // of openings; ends with CloseAll
	cancel context.CancelFunc
	look   chan struct{} // wakes Poll

	shrinker *file.Shrinker // of all sites: it bounds the memory of images
	hasher   *auth.Hasher   // of all sites: it bounds what logging in costs the others

	// tick counts the rounds of Poll. A request finds out by it that its site was
	// not looked at lately.
	tick atomic.Int64

	refreshing turn // one look at the registry at a time
	blind      bool // the last one failed; of whoever looks

	mu     sync.Mutex // of the table's changes and of closed
	closed bool
	open   sync.WaitGroup // tenants that are not closed yet

	spooled time.Time // when the spools were last swept; of Tend

	lastMu sync.Mutex
	last   map[string]*Tenant // by name: the latest, until it has ended
}

// NewSet makes the set of the sites of an installation, all asleep. Where they
// cannot be read now, that is logged, and requests are told so.
func NewSet(c Config) *Set {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Counters == nil {
		c.Counters = ratelimit.Local()
	}
	if c.Egress == nil {
		c.Egress = egress.New(egress.Config{})
	}
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	s := &Set{
		c: c, look: make(chan struct{}, 1), last: map[string]*Tenant{}, refreshing: newTurn(),
		registry: NewRegistry(RegistryConfig{Layout: c.Layout, Database: c.Database, Schema: c.Registry, Master: c.Master, Logger: c.Logger, Store: c.Store}),
		shrinker: file.NewShrinker(1), hasher: auth.NewHasher(),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.table.Store(&table{unknown: true})
	ctx, cancel := context.WithTimeout(s.ctx, openTimeout)
	defer cancel()
	_ = s.readSites(ctx) // logged
	return s
}

// Sites returns the sites there are, by name.
func (s *Set) Sites(ctx context.Context) ([]*Record, error) {
	if err := s.readSites(ctx); err != nil {
		return nil, err
	}
	entries := s.table.Load().entries
	list := make([]*Record, len(entries))
	for i, e := range entries {
		list[i] = e.record.Load()
	}
	return list, nil
}

// Registry is where the sites are listed.
func (s *Set) Registry() Registry { return s.registry }

// Create makes a new site; an error that is fs.ErrExist when the name is taken.
func (s *Set) Create(ctx context.Context, name string) (*Tenant, error) {
	if err := s.registry.Create(ctx, name); err != nil {
		return nil, err
	}
	if err := s.readSites(ctx); err != nil { // what was there before under the name is gone
		return nil, err
	}
	return s.Open(ctx, name)
}

// Open opens a site for somebody who is no request: a command. A site that does
// not exist is fs.ErrNotExist. Poll may put the site to sleep again.
func (s *Set) Open(ctx context.Context, name string) (*Tenant, error) {
	e := s.table.Load().byName[name]
	if e == nil {
		if err := s.readSites(ctx); err != nil {
			return nil, err
		}
		if e = s.table.Load().byName[name]; e == nil {
			return nil, missing(name)
		}
	}
	t, err := s.wake(ctx, e)
	if err != nil {
		return nil, err
	}
	t.release()
	return t, nil
}

// Tenant returns an open site, or nil.
func (s *Set) Tenant(name string) *Tenant {
	if e := s.table.Load().byName[name]; e != nil {
		return e.tenant.Load()
	}
	return nil
}

// Active reports whether a site is open and has had a request lately. What
// another process has changed need not be looked for on one that has not: its
// next request does.
func (s *Set) Active(name string) bool {
	t := s.Tenant(name)
	return t != nil && t.checked.Load() >= s.tick.Load()
}

// Acquire finds the site that answers the host and opens it if it sleeps; it
// satisfies httpapi.Sites.
func (s *Set) Acquire(ctx context.Context, host string, r *http.Request) (*httpapi.Site, func(), error) {
	name := r.Header.Get(proxy.SiteHeader)
	t, err := s.answers(ctx, host, name)
	if errors.Is(err, errAnother) {
		s.lookNow(ctx)
		t, err = s.answers(ctx, host, name)
	}
	if err != nil {
		return nil, nil, notOpened(host, err)
	}
	if t.checked.Load() < s.tick.Load() {
		t.catchUp(ctx)
	}
	t.used.note()
	return t.edge.Load(), t.releaser, nil
}

// errAnother says that a site in the table is not there any more.
var errAnother = errors.New("the table of sites is older than the sites")

// answers returns the tenant that answers a host, held.
func (s *Set) answers(ctx context.Context, host, name string) (*Tenant, error) {
	now := s.table.Load()
	if now.unknown {
		return nil, fault.New(fault.Unavailable, "", "The list of sites cannot be read now; try again later")
	}
	e := now.find(host, name)
	if e == nil {
		return nil, missing(host)
	}
	if t := e.serving.Load(); t != nil && t.pins.take() {
		return t, nil
	}
	t, err := s.wake(ctx, e)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(errAnother, err)
	}
	return t, err
}

// notOpened is what a client is told of a site that could not be opened.
func notOpened(host string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, errClosed):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Missing("No site answers %s", host)
	case errors.Is(err, migration.ErrNewer), errors.Is(err, errLost), fault.From(err).Type == fault.InsufficientStorage:
		return fault.From(err) // trying again does not help; what does, the message says
	case errors.Is(err, context.DeadlineExceeded), fault.KindOf(err) == fault.Unavailable, fault.KindOf(err) == fault.Timeout:
		return fault.Wrap(fault.Unavailable, "", err, "The site cannot be opened now; try again later")
	}
	return fault.Wrap(fault.Internal, "", err, "The site cannot be opened")
}

// Ready reports whether the server can serve: there is a site, the database of all
// sites answers, and there is room to write. It opens none; what is wrong with one of many sites is
// that site's.
func (s *Set) Ready(ctx context.Context) error {
	if len(s.table.Load().entries) == 0 {
		return errors.New("there is no site")
	}
	return errors.Join(s.room(), s.registry.Ping(ctx))
}

// Close puts a site to sleep when the last request on it has ended. The next one
// opens it again.
func (s *Set) Close(name string) {
	if e := s.table.Load().byName[name]; e != nil {
		s.close(e)
	}
}

func (s *Set) close(e *entry) {
	t := e.serving.Swap(nil)
	if t != nil && t.pins.retire() {
		t.end()
	}
}

// CloseAll closes every site, waiting for what still runs on them, and opens
// none any more.
func (s *Set) CloseAll() {
	s.mu.Lock()
	s.closed = true
	s.cancel()
	for _, e := range s.table.Load().entries {
		s.close(e)
	}
	s.mu.Unlock()
	s.open.Wait()
	if err := s.registry.Close(); err != nil {
		s.c.Logger.Error("close the list of sites", "error", err)
	}
}
