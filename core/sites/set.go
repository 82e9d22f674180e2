package sites

import (
	"context"
	"time"

	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// DefaultIdle is how long a site stays open without a request.
const DefaultIdle = 5 * time.Minute

// Config is what a Set needs.
type Config struct {
	tenant.Config // of every site

	Layout   datafolder.Layout
	Database string        // URL of a PostgreSQL database; empty: a SQLite file per site
	Registry string        // schema of the database that lists the sites; empty: that of an installation that has the database alone
	Idle     time.Duration // how long a site stays open without a request; 0: DefaultIdle, below 0: for ever

	// Recreate lets sites whose database is missing begin with an empty one.
	Recreate bool
}

// Set is the sites of a process. A site is opened by its first request and put
// to sleep when it has had none for a while.
type Set struct {
	c      Config
	list   *listing
	opener *opener
	look   chan struct{} // wakes Poll

	spooled time.Time // when the spools were last swept; of Maintain
}

// NewSet makes the set of the sites of an installation, all asleep. Where they
// cannot be read now, that is logged, and requests are told so.
func NewSet(c Config) *Set {
	c.Config = c.Complete()
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	s := &Set{c: c, look: make(chan struct{}, 1)}
	from := NewRegistry(RegistryConfig{Layout: c.Layout, Database: c.Database, Schema: c.Registry, Master: c.Master, Logger: c.Logger, Store: c.Store})
	s.list = newListing(from, c.Logger, s.forget)
	s.opener = newOpener(&s.c.Config, homes{c.Layout, c.Recreate}, from.Enter)
	ctx, cancel := context.WithTimeout(s.opener.ctx, openTimeout)
	defer cancel()
	_ = s.list.look(ctx) // logged
	return s
}

// forget drops what plugins keep of a site that is gone.
func (s *Set) forget(name string) {
	if s.c.Plugins != nil {
		s.c.Plugins.Forget(name)
	}
}

// Sites returns the sites there are, by name.
func (s *Set) Sites(ctx context.Context) ([]*registry.Record, error) {
	if err := s.list.look(ctx); err != nil {
		return nil, err
	}
	return s.Known(), nil
}

// Known are the sites there were when it was last looked, by name.
func (s *Set) Known() []*registry.Record { return s.list.now().records() }

// Free is fs.ErrExist where a site has the name.
func (s *Set) Free(ctx context.Context, name string) error {
	list, err := s.Sites(ctx)
	if err == nil && registry.Find(list, name) != nil {
		err = registry.Taken(name)
	}
	return err
}

// Registry is where the sites are listed.
func (s *Set) Registry() registry.Registry { return s.list.registry }

// Config is what the set goes by.
func (s *Set) Config() Config { return s.c }

// Create makes a new site; an error that is fs.ErrExist when the name is taken.
func (s *Set) Create(ctx context.Context, name string) (*tenant.Tenant, error) {
	if err := s.Registry().Create(ctx, name); err != nil {
		return nil, err
	}
	if err := s.list.look(ctx); err != nil { // what was there before under the name is gone
		return nil, err
	}
	return s.Open(ctx, name)
}

// Open opens a site for somebody who is no request: a command. A site that does
// not exist is fs.ErrNotExist. Poll may put the site to sleep again.
func (s *Set) Open(ctx context.Context, name string) (*tenant.Tenant, error) {
	_, t, err := s.hold(ctx, name)
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
	e := s.list.now().byName[name]
	slept := e == nil || e.serving.Load() == nil
	e, t, err := s.hold(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if slept {
		t.woken.Store(true)
	}
	return t.Tenant, func() { e.letSleep(t) }, nil
}

// hold opens a site for somebody who is no request, and who releases it.
func (s *Set) hold(ctx context.Context, name string) (*entry, *tenancy, error) {
	e, err := s.list.entry(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.opener.wake(ctx, e)
	return e, t, err
}

// Tenant returns an open site, or nil.
func (s *Set) Tenant(name string) *tenant.Tenant {
	if e := s.list.now().byName[name]; e != nil {
		if t := e.tenancy.Load(); t != nil {
			return t.Tenant
		}
	}
	return nil
}

// Named reports whether a site names the host (lower case, without port) in its
// configuration. Others are answered too, but nobody has said that they are ours.
func (s *Set) Named(host string) bool { return s.list.now().byHost[host] != nil }

// Close puts a site to sleep when the last request on it has ended. The next one
// opens it again.
func (s *Set) Close(name string) {
	if e := s.list.now().byName[name]; e != nil {
		e.close()
	}
}

// CloseAll closes every site, waiting for what still runs on them, and opens
// none any more.
func (s *Set) CloseAll() {
	s.opener.refuse()
	for _, e := range s.list.now().entries {
		e.leave(errClosed)
	}
	s.opener.wait()
	if err := s.Registry().Close(); err != nil {
		s.c.Logger.Error("close the list of sites", "error", err)
	}
}
