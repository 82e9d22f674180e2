package host

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
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
	"armature/core/ratelimit"
	"armature/core/site"
	"armature/core/store"
)

// pollEvery is how often the set looks for what other processes have changed.
const pollEvery = time.Second

// Config is what a Set needs.
type Config struct {
	Layout   Layout
	Database string // URL of a PostgreSQL database; empty: a SQLite file per site
	Master   *site.Master
	Version  string
	Plugins  Plugins             // nil: no plugins
	Methods  [][]*method.Method  // groups beside the framework's own
	Counters *ratelimit.Counters // of the rate limits; nil: in this process alone
	Egress   *egress.Client      // for what the sites ask of others; nil: one of its own
	Logger   *slog.Logger
	Clock    func() time.Time // of the sites; nil: the system's
	Store    store.Options    // of their databases, but for the logger

	// SlowStatement tells how long an SQL statement may take before it is logged;
	// 0, and nil: none is.
	SlowStatement func() time.Duration

	MailRoots *x509.CertPool // who may vouch for mail servers; nil: the system's

	// Password is the Administrator's password on a site that has none yet;
	// empty: a random one. Announce is told what was chosen at random, once.
	Password string
	Announce func(site, user, password string)
}

// Plugins runs the plugins of every site.
type Plugins interface {
	// Open adds a site and returns its methods and its hooks, which may be nil.
	Open(site string) (method.Invoker, document.Hooks, error)
	// Shut removes a site.
	Shut(site string)
}

// Set is the open sites of a process.
type Set struct {
	c     Config
	table atomic.Pointer[table]

	shrinker *file.Shrinker // of all sites: it bounds the memory of images
	hasher   *auth.Hasher   // of all sites: it bounds what logging in costs the others

	mu     sync.Mutex // held while sites are opened and closed
	closed bool
	open   sync.WaitGroup // tenants that are not closed yet
}

// NewSet makes a set without sites.
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
	s := &Set{c: c, shrinker: file.NewShrinker(1), hasher: auth.NewHasher()}
	s.table.Store(newTable(nil))
	return s
}

// Create makes a new site; an error that is fs.ErrExist when the name is taken.
func (s *Set) Create(ctx context.Context, name string) (*Tenant, error) {
	if err := s.c.Layout.Create(name); err != nil {
		return nil, err
	}
	return s.Open(ctx, name)
}

// Open opens a site and adds it to the set; one that is open already is
// returned as it is. A site that does not exist is fs.ErrNotExist.
func (s *Set) Open(ctx context.Context, name string) (*Tenant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the server is shutting down")
	}
	if t := s.Tenant(name); t != nil {
		return t, nil
	}
	if !s.c.Layout.Exists(name) {
		return nil, fmt.Errorf("site %s: %w", name, fs.ErrNotExist)
	}
	t, err := s.openTenant(ctx, name)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	s.table.Store(newTable(append(slices.Clone(s.tenants()), t)))
	return t, nil
}

// Tenant returns an open site, or nil.
func (s *Set) Tenant(name string) *Tenant { return s.table.Load().byName[name] }

// tenants are the open sites, by name.
func (s *Set) tenants() []*Tenant { return s.table.Load().tenants }

// reindex makes the hosts of changed configurations count.
func (s *Set) reindex() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.Store(newTable(s.tenants()))
}

// Acquire finds the site that answers the host; it satisfies httpapi.Sites.
func (s *Set) Acquire(_ context.Context, host string, _ *http.Request) (*httpapi.Site, func(), error) {
	t := s.table.Load().find(host)
	if t == nil || !t.pins.take() {
		return nil, nil, fault.Missing("No site answers %s", host)
	}
	return t.edge.Load(), t.releaser, nil
}

// Ready reports whether every open site's database answers; it fails while
// there is no site.
func (s *Set) Ready(ctx context.Context) error {
	tenants := s.tenants()
	if len(tenants) == 0 {
		return errors.New("no site is open")
	}
	for _, t := range tenants {
		if err := t.Store.Ping(ctx); err != nil {
			return fmt.Errorf("site %s: %w", t.Site.Name, err)
		}
	}
	return nil
}

// Poll keeps the sites up to date until ctx ends.
func (s *Set) Poll(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.Refresh(ctx)
		}
	}
}

// Refresh takes over, once, what other processes have changed: sites that came
// and went, their configuration and their DocTypes. Failures are logged: the
// next round tries again.
func (s *Set) Refresh(ctx context.Context) {
	names, err := s.c.Layout.List()
	if err != nil {
		s.c.Logger.Error("look for sites", "error", err)
		return
	}
	for _, t := range s.tenants() {
		if !slices.Contains(names, t.Site.Name) {
			s.c.Logger.Info("site is gone", "site", t.Site.Name)
			s.Close(t.Site.Name)
			continue
		}
		if err := t.refresh(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("look for changes of the site", "error", err)
		}
	}
	for _, name := range names {
		if s.Tenant(name) != nil || ctx.Err() != nil {
			continue
		}
		if _, err := s.Open(ctx, name); err != nil {
			s.c.Logger.Error("open a new site", "site", name, "error", err)
		}
	}
}

// Close takes a site out of the set; it is closed when the last request on it
// has ended.
func (s *Set) Close(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(name)
}

func (s *Set) close(name string) {
	t := s.Tenant(name)
	if t == nil {
		return
	}
	s.table.Store(newTable(slices.DeleteFunc(slices.Clone(s.tenants()), func(o *Tenant) bool { return o == t })))
	if t.pins.retire() {
		t.end()
	}
}

// CloseAll closes every site, waiting for what still runs on them, and opens
// none any more.
func (s *Set) CloseAll() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.tenants() {
		s.close(t.Site.Name)
	}
	s.mu.Unlock()
	s.open.Wait()
}
