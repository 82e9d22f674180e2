package sites_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// newSet makes a set of sites in SQLite files, closed when the test ends.
func TestAcquire(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	if got := sitetest.Acquired(t, s, "any.example"); got != "" {
		t.Errorf("without sites %q answers", got)
	}
	sitetest.Create(t, s, "another")
	sitetest.Create(t, s, "default")
	sitetest.Create(t, s, "named")
	sitetest.Configure(t, s, "named", "hosts", `["named.example"]`)
	s.Refresh(t.Context())
	for name, want := range map[string]string{
		"any.example": "default", "named.example": "named", "": "default",
	} {
		if got := sitetest.Acquired(t, s, name); got != want {
			t.Errorf("%q is answered by %q, want %q", name, got, want)
		}
	}
	sitetest.Configure(t, s, "default", "hosts", `["default.example"]`)
	s.Refresh(t.Context())
	if got := sitetest.Acquired(t, s, "any.example"); got != "another" {
		t.Errorf("any host is answered by %q", got)
	}
}

func TestRefreshFollowsTheFolder(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	other := sites.NewSet(sitetest.Config(t, layout)) // another process
	defer other.CloseAll()
	if _, err := other.Create(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	other.Close("late")
	sitetest.Configure(t, s, "late", "hosts", `["late.example"]`)
	s.Refresh(t.Context())
	if got := sitetest.Acquired(t, s, "late.example"); got != "late" {
		t.Fatalf("a site that another process made is not served: %q answers", got)
	}
	late := s.Tenant("late")
	if _, err := s.Registry().Drop(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	s.Refresh(t.Context())
	if got := sitetest.Acquired(t, s, "late.example"); got != "default" {
		t.Errorf("a dropped site is still served: %q answers", got)
	}
	if err := late.Store.Ping(t.Context()); err == nil {
		t.Error("the database of a dropped site is still open")
	}
	// A new site of the name is another one.
	other.Refresh(t.Context())
	if _, err := other.Create(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	sitetest.Configure(t, s, "late", "hosts", `["late.example"]`)
	s.Refresh(t.Context())
	if got := sitetest.Acquired(t, s, "late.example"); got != "late" {
		t.Errorf("%q answers for the new site", got)
	}
	if s.Tenant("late") == late {
		t.Error("the new site is served by what the old one was")
	}
}

func TestRefreshKeepsAConfigurationThatWorks(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	on := sitetest.Create(t, s, "default")
	sitetest.Configure(t, s, "default", "time_zone", `"Asia/Tokyo"`)
	s.Refresh(t.Context())
	if got := on.Site.Location().String(); got != "Asia/Tokyo" {
		t.Fatalf("time zone %s", got)
	}
	if err := os.WriteFile(layout.Config("default"), []byte(`{"time_zone": "Nowhere"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Refresh(t.Context())
	if got := on.Site.Location().String(); got != "Asia/Tokyo" {
		t.Errorf("a wrong configuration took effect: %s", got)
	}
}

func TestOpenErrors(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	if _, err := s.Open(t.Context(), "nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing site: %v", err)
	}
	sitetest.Create(t, s, "one")
	if _, err := s.Create(t.Context(), "one"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a taken name: %v", err)
	}
	if _, err := s.Create(t.Context(), "../out"); err == nil {
		t.Error("a name that leads out of the folder was taken")
	}
	s.CloseAll()
	if _, err := s.Open(t.Context(), "one"); err == nil {
		t.Error("a closed set opened a site")
	}
}

func TestAnotherMasterKey(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	master, err := site.ParseMaster(strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	other := sites.NewSet(sites.Config{Config: tenant.Config{Master: master}, Layout: layout})
	defer other.CloseAll()
	if _, err := other.Open(t.Context(), "default"); !errors.Is(err, site.ErrWrongMaster) {
		t.Errorf("%v, want ErrWrongMaster", err)
	}
}

func TestFirstPasswordOnce(t *testing.T) {
	var announced atomic.Int64
	announce := func(c *sites.Config) {
		c.Announce = func(site, user, password string) {
			if site != "default" || user != identity.Administrator || len(password) < 20 {
				t.Errorf("announced %s %s %s", site, user, password)
			}
			announced.Add(1)
		}
	}
	s, layout := sitetest.NewSet(t, announce)
	if err := s.Registry().Create(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	// Two processes open the new site at once.
	c := sitetest.Config(t, layout)
	announce(&c)
	other := sites.NewSet(c)
	defer other.CloseAll()
	var wg sync.WaitGroup
	for _, set := range []*sites.Set{s, other} {
		wg.Go(func() {
			if _, err := set.Open(t.Context(), "default"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := announced.Load(); n != 1 {
		t.Errorf("announced %d passwords", n)
	}
}

// TestWeakFirstPassword: a site that cannot be finished is an error, and what was
// opened of it is closed.
func TestWeakFirstPassword(t *testing.T) {
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Password = "admin" })
	if _, err := s.Create(t.Context(), "default"); err == nil || !strings.Contains(err.Error(), "the Administrator's password") {
		t.Errorf("%v", err)
	}
}

// countingPlugins notes which sites are open.
type countingPlugins struct {
	mu   sync.Mutex
	open map[string]int
}

func (p *countingPlugins) Open(_ context.Context, on *tenant.Tenant) (tenant.PluginSite, error) {
	p.count(on.Site.Name, 1)
	return countedSite{p, on.Site.Name}, nil
}

func (p *countingPlugins) Forget(string) {}

func (p *countingPlugins) count(site string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[site] += n
}

// countedSite is the plugins of an open site: none.
type countedSite struct {
	p    *countingPlugins
	site string
}

func (countedSite) Invoker() method.Invoker { return nil }
func (countedSite) Hooks() document.Hooks   { return nil }
func (countedSite) Refresh(context.Context) {}
func (countedSite) KVBytes() int64          { return 0 }
func (s countedSite) Close()                { s.p.count(s.site, -1) }

func TestCloseWaitsForRequests(t *testing.T) {
	plugins := &countingPlugins{open: map[string]int{}}
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Plugins = plugins })
	on := sitetest.Create(t, s, "default")
	edge, release, err := s.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	s.Close("default")
	// The request that came before goes on to its end.
	err = edge.Store.Read(t.Context(), func(tx document.Tx) error {
		_, err := edge.Documents.As(identity.Root(), tx).Get(t.Context(), "User", identity.Administrator)
		return err
	})
	if err != nil {
		t.Errorf("a running request: %v", err)
	}
	// One that comes now waits for it to end, and gets the site opened again.
	come := make(chan string)
	go func() { come <- sitetest.Acquired(t, s, "x") }()
	plugins.mu.Lock()
	if plugins.open["default"] != 1 {
		t.Error("the plugins of a site in use were shut, or opened twice")
	}
	plugins.mu.Unlock()
	release()
	if got := <-come; got != "default" {
		t.Errorf("%q answers afterwards", got)
	}
	if s.Tenant("default") == on {
		t.Error("a closed tenant serves")
	}
	if err := on.Store.Ping(context.Background()); err == nil {
		t.Error("the database is still open")
	}
}

func TestHammerOpenAndClose(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r := httptest.NewRequest("GET", "/", nil)
			for {
				select {
				case <-stop:
					return
				default:
				}
				edge, release, err := s.Acquire(t.Context(), "x", r)
				if err != nil {
					t.Errorf("a site that is opened again: %v", err)
					return
				}
				if err := edge.Store.Ping(t.Context()); err != nil {
					t.Errorf("a site in use was closed: %v", err)
				}
				release()
			}
		})
	}
	for range 8 {
		s.Close("default")
		if _, err := s.Open(t.Context(), "default"); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}
