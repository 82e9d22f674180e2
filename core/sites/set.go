package sites

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/migration"
	"armature/core/proxy"
	"armature/core/tenant"
)

// DefaultIdle is how long a site stays open without a request.
const DefaultIdle = 5 * time.Minute

// Config is what a Set needs.
type Config struct {
	tenant.Config // of every site

	Layout   Layout
	Database string        // URL of a PostgreSQL database; empty: a SQLite file per site
	Registry string        // schema of the database that lists the sites; empty: DefaultRegistry
	Idle     time.Duration // how long a site stays open without a request; 0: DefaultIdle, below 0: for ever

	// Recreate lets sites whose database is missing begin with an empty one.
	Recreate bool
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

	// tick counts the rounds of Poll. A request finds out by it that its site was
	// not looked at lately.
	tick atomic.Int64

	refreshing *semaphore.Weighted // one look at the registry at a time
	blind      bool                // the last one failed; of whoever looks

	mu     sync.Mutex // of the table's changes and of closed
	closed bool
	open   sync.WaitGroup // tenancies that are not closed yet

	spooled time.Time // when the spools were last swept; of Maintain

	lastMu sync.Mutex
	last   map[string]*tenancy // by name: the latest, until it has ended
}

// NewSet makes the set of the sites of an installation, all asleep. Where they
// cannot be read now, that is logged, and requests are told so.
func NewSet(c Config) *Set {
	c.Config = c.Complete()
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	s := &Set{
		c: c, look: make(chan struct{}, 1), last: map[string]*tenancy{}, refreshing: semaphore.NewWeighted(1),
		registry: NewRegistry(RegistryConfig{Layout: c.Layout, Database: c.Database, Schema: c.Registry, Master: c.Master, Logger: c.Logger, Store: c.Store}),
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
	return s.Known(), nil
}

// Known are the sites there were when it was last looked, by name.
func (s *Set) Known() []*Record {
	entries := s.table.Load().entries
	list := make([]*Record, len(entries))
	for i, e := range entries {
		list[i] = e.record.Load()
	}
	return list
}

// Free is fs.ErrExist where a site has the name.
func (s *Set) Free(ctx context.Context, name string) error {
	list, err := s.Sites(ctx)
	if err == nil && find(list, name) != nil {
		err = taken(name)
	}
	return err
}

// Registry is where the sites are listed.
func (s *Set) Registry() Registry { return s.registry }

// Config is what the set goes by.
func (s *Set) Config() Config { return s.c }

// Create makes a new site; an error that is fs.ErrExist when the name is taken.
func (s *Set) Create(ctx context.Context, name string) (*tenant.Tenant, error) {
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
func (s *Set) Open(ctx context.Context, name string) (*tenant.Tenant, error) {
	t, err := s.hold(ctx, name)
	if err != nil {
		return nil, err
	}
	t.release()
	return t.Tenant, nil
}

// Borrow opens a site for work in the background, which does not count as use: one
// that slept sleeps again when release is called, which who borrows has to do. A
// site that does not exist is fs.ErrNotExist.
func (s *Set) Borrow(ctx context.Context, name string) (_ *tenant.Tenant, release func(), err error) {
	e := s.table.Load().byName[name]
	slept := e == nil || e.serving.Load() == nil
	t, err := s.hold(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return t.Tenant, func() { t.letSleep(slept) }, nil
}

// hold opens a site for somebody who is no request, and who releases it.
func (s *Set) hold(ctx context.Context, name string) (*tenancy, error) {
	e := s.table.Load().byName[name]
	if e == nil {
		if err := s.readSites(ctx); err != nil {
			return nil, err
		}
		if e = s.table.Load().byName[name]; e == nil {
			return nil, missing(name)
		}
	}
	return s.wake(ctx, e)
}

// Tenant returns an open site, or nil.
func (s *Set) Tenant(name string) *tenant.Tenant {
	if e := s.table.Load().byName[name]; e != nil {
		if t := e.tenancy.Load(); t != nil {
			return t.Tenant
		}
	}
	return nil
}

// Named reports whether a site names the host (lower case, without port) in its
// configuration. Others are answered too, but nobody has said that they are ours.
func (s *Set) Named(host string) bool { return s.table.Load().byHost[host] != nil }

// Acquire finds the site that answers the host and opens it if it sleeps; it
// satisfies httpapi.Sites.
func (s *Set) Acquire(ctx context.Context, host string, r *http.Request) (*httpapi.Tenant, func(), error) {
	name := r.Header.Get(proxy.SiteHeader)
	t, err := s.answers(ctx, host, name)
	if errors.Is(err, errAnother) {
		s.lookNow(ctx)
		t, err = s.answers(ctx, host, name)
	}
	if err != nil {
		return nil, nil, notOpened(host, err)
	}
	if !t.active() {
		t.catchUp(ctx)
	}
	t.used.note()
	return t.Edge(), t.releaser, nil
}

// errAnother says that a site in the table is not there any more.
var errAnother = errors.New("the table of sites is older than the sites")

// answers returns the site that answers a host, held.
func (s *Set) answers(ctx context.Context, host, name string) (*tenancy, error) {
	now := s.table.Load()
	if now.unknown {
		return nil, fault.New(fault.Unavailable, "", "The list of sites cannot be read now; try again later")
	}
	e := now.find(host, name)
	if e == nil {
		return nil, missing(host)
	}
	if t := e.serving.Load(); t != nil && t.pins.Take() {
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
	return errors.Join(s.diskFull(), s.registry.Ping(ctx))
}

// Close puts a site to sleep when the last request on it has ended. The next one
// opens it again.
func (s *Set) Close(name string) {
	if e := s.table.Load().byName[name]; e != nil {
		e.close()
	}
}

// CloseAll closes every site, waiting for what still runs on them, and opens
// none any more.
func (s *Set) CloseAll() {
	s.mu.Lock()
	s.closed = true
	s.cancel()
	for _, e := range s.table.Load().entries {
		e.close()
	}
	s.mu.Unlock()
	s.open.Wait()
	if err := s.registry.Close(); err != nil {
		s.c.Logger.Error("close the list of sites", "error", err)
	}
}
