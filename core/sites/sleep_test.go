package sites_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// TestOpenedOnce: however many come at once to a sleeping site, it is opened
// once, and everybody is served by the one tenant.
func TestOpenedOnce(t *testing.T) {
	plugins := &countingPlugins{open: map[string]int{}}
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Plugins = plugins })
	sitetest.Create(t, s, "default")
	for range 5 {
		s.Close("default")
		if s.Tenant("default") != nil {
			t.Fatal("the site does not sleep")
		}
		var come sync.WaitGroup
		for range 16 {
			come.Go(func() { sitetest.Acquired(t, s, "any") })
		}
		come.Wait()
		plugins.mu.Lock()
		if plugins.open["default"] != 1 {
			t.Errorf("opened %d times", plugins.open["default"])
		}
		plugins.mu.Unlock()
	}
}

// TestIdle: a site without requests is put to sleep, whatever is looked for on
// it in the background; one that a request holds is not.
func TestIdle(t *testing.T) {
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Idle = time.Nanosecond })
	sitetest.Create(t, s, "default")
	sitetest.Create(t, s, "other")
	_, release, err := s.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { s.Poll(ctx) })
	defer polling.Wait()
	defer stop()
	eventually(t, "the other site sleeps", func() bool { return s.Tenant("other") == nil })
	if s.Tenant("default") == nil {
		t.Error("a site in use was closed")
	}
	release()
	eventually(t, "the site sleeps", func() bool { return s.Tenant("default") == nil })
	if got := sitetest.Acquired(t, s, "x"); got != "default" {
		t.Errorf("%q answers", got)
	}
}

// TestAsleepCostsNothing: no goroutine and no open file is left of a site that
// sleeps.
func TestAsleepCostsNothing(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	s.Close("default")
	files := func() (open []string) {
		all, err := filepath.Glob("/proc/self/fd/*")
		if err != nil || len(all) == 0 {
			t.Skip("the system does not tell which files are open")
		}
		for _, fd := range all {
			if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, layout.Data) {
				open = append(open, name)
			}
		}
		return open
	}
	before := runtime.NumGoroutine()
	sitetest.Acquired(t, s, "x")
	if len(files()) == 0 {
		t.Fatal("an open site has no open file: the test does not see them")
	}
	s.Close("default")
	if left := files(); len(left) > 0 {
		t.Errorf("open: %q", left)
	}
	eventually(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}

// TestFailedOpening: what keeps a site from being opened is said clearly, and
// the site is served once it is gone.
func TestFailedOpening(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	s.Close("default")
	file := filepath.Join(layout.Site("default"), "site.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("this is no database, whatever the name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	for range 2 { // the second one is told what the first one was
		if _, _, err := s.Acquire(t.Context(), "x", r); fault.KindOf(err).Status() < 500 {
			t.Fatalf("a database that is none: %v", err)
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("one site keeps the server from being ready: %v", err)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the site is served", func() bool {
		_, release, err := s.Acquire(t.Context(), "x", r)
		if err == nil {
			release()
		}
		return err == nil
	})
}

// TestDatabaseAway: a sleeping site whose PostgreSQL does not answer is
// unavailable, and the server says that it is not ready.
func TestDatabaseAway(t *testing.T) {
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Database = "postgres://armature@127.0.0.1:1/armature" })
	_, _, err := s.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil))
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v, want Unavailable", err)
	}
	if err := s.Ready(t.Context()); err == nil {
		t.Error("ready without a database")
	}
}

// TestImpatient: whoever leaves while a site is being opened takes nobody along.
func TestImpatient(t *testing.T) {
	s, _ := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	s.Close("default")
	gone, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequest("GET", "/", nil)
	if _, _, err := s.Acquire(gone, "x", r); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := sitetest.Acquired(t, s, "x"); got != "default" {
		t.Errorf("%q answers", got)
	}
}

// TestQuietSiteCatchesUp: nobody looks at a site without requests, so its next
// request does before it is served.
func TestQuietSiteCatchesUp(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	sitetest.Acquired(t, s, "x")
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { s.Poll(ctx) })
	defer polling.Wait()
	defer stop()
	eventually(t, "nobody looks at the site any more", func() bool { return !s.Tenant("default").Active() })

	other := sites.NewSet(sitetest.Config(t, layout)) // another process
	defer other.CloseAll()
	on, err := other.Open(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	err = on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		_, err := on.Documents.As(identity.Root(), tx).Insert(t.Context(), "DocType", map[string]any{
			"name": "Book", "module": "Library", "custom": int64(1),
			"fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	edge, release, err := s.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if edge.Documents.Schema().DocType("Book") == nil {
		t.Error("the first request after a while does not see a new DocType")
	}
}

// TestTend: what a crash has left behind goes from a site that sleeps, too, and
// it sleeps again afterwards.
func TestTend(t *testing.T) {
	s, layout := sitetest.NewSet(t)
	sitetest.Create(t, s, "default")
	s.Close("default")
	left := filepath.Join(layout.Files("default"), "tmp", "left")
	if err := os.WriteFile(left, []byte("half an upload"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var maintaining sync.WaitGroup
	maintaining.Go(func() { s.Maintain(ctx) })
	eventually(t, "what was left is gone", func() bool {
		_, err := os.Stat(left)
		return errors.Is(err, os.ErrNotExist)
	})
	eventually(t, "the site sleeps", func() bool { return s.Tenant("default") == nil })
	stop()
	maintaining.Wait()
}

// TestReadyOpensNothing: who asks whether the server is ready wakes no site.
func TestReadyOpensNothing(t *testing.T) {
	for _, database := range []string{"", "postgres"} {
		t.Run(database, func(t *testing.T) {
			s, _ := sitetest.NewSet(t, func(c *sites.Config) {
				if database != "" {
					sitetest.OnPostgres(t, c)
				}
			})
			if err := s.Ready(t.Context()); err == nil {
				t.Error("ready without a site")
			}
			if err := s.Registry().Create(t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
			s.Refresh(t.Context())
			if err := s.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			if s.Tenant("default") != nil {
				t.Error("the site was opened")
			}
		})
	}
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}
