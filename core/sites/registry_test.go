package sites_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/sites/sitetest"
	"armature/core/store"
	"armature/core/tenant"
)

// processes makes processes of one installation: on one data folder with SQLite,
// each with a data folder of its own with PostgreSQL.
type processes struct {
	t      *testing.T
	config sites.Config
	shared bool // the data folder
}

func eachInstallation(t *testing.T, test func(t *testing.T, p *processes)) {
	t.Run("SQLite", func(t *testing.T) { test(t, newProcesses(t, true)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, newProcesses(t, false)) })
}

func newProcesses(t *testing.T, shared bool) *processes {
	t.Helper()
	p := &processes{t: t, config: sites.Config{Config: tenant.Config{Version: "test", Password: "correct horse battery"}}, shared: shared}
	var err error
	if p.config.Master, err = site.ParseMaster(strings.Repeat("5a", 32)); err != nil {
		t.Fatal(err)
	}
	p.config.Layout = datafolder.Layout{Data: t.TempDir()}
	if !shared {
		sitetest.OnPostgres(t, &p.config)
	}
	return p
}

// start is another process.
func (p *processes) start(change ...func(*sites.Config)) (*sites.Set, datafolder.Layout) {
	p.t.Helper()
	c := p.config
	if !p.shared {
		c.Layout.Data = p.t.TempDir()
	}
	for _, fn := range change {
		fn(&c)
	}
	if err := c.Layout.Make(); err != nil {
		p.t.Fatal(err)
	}
	s := sites.NewSet(c)
	p.t.Cleanup(s.CloseAll)
	return s, c.Layout
}

// unique is the name of a site that no other test has on the same PostgreSQL.
func unique(name string) string {
	return fmt.Sprintf("%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
}

func note(t *testing.T, s *sites.Set, name, text string) {
	t.Helper()
	on, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	err = on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		_, err := on.Documents.As(identity.Root(), tx).Insert(t.Context(), "ToDo", map[string]any{"description": text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func notes(t *testing.T, s *sites.Set, name string) (n int64) {
	t.Helper()
	on, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	err = on.Store.Read(t.Context(), func(tx document.Tx) (err error) {
		n, err = on.Documents.As(identity.Root(), tx).Count(t.Context(), "ToDo", &query.Query{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func names(t *testing.T, s *sites.Set) (names []string) {
	t.Helper()
	list, err := s.Sites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// TestProcessesShareSites: what one process makes of the list of sites and of
// their configurations is what the others have.
func TestProcessesShareSites(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		a, _ := p.start()
		b, _ := p.start()
		shop, docs := unique("shop"), unique("docs")
		sitetest.Create(t, a, shop)
		sitetest.Create(t, b, docs)
		sitetest.Configure(t, b, shop, "hosts", `["shop.example"]`)
		sitetest.Configure(t, a, docs, "hosts", `["docs.example"]`)
		for _, s := range []*sites.Set{a, b} {
			s.Refresh(t.Context())
			if x, y, z := sitetest.Acquired(t, s, "shop.example"), sitetest.Acquired(t, s, "docs.example"), sitetest.Acquired(t, s, "other.example"); x != shop || y != docs || z != "" {
				t.Errorf("answers by %q, %q and %q", x, y, z)
			}
		}
		note(t, a, shop, "one")
		if n := notes(t, b, shop); n != 1 {
			t.Errorf("the other process sees %d documents", n)
		}
		if _, err := b.Registry().Drop(t.Context(), shop); err != nil {
			t.Fatal(err)
		}
		a.Refresh(t.Context())
		if got := sitetest.Acquired(t, a, "shop.example"); got != "" {
			t.Errorf("%q answers for a site that was dropped elsewhere", got)
		}
		if a.Tenant(shop) != nil {
			t.Error("it is still open")
		}
		if got := names(t, b); !slices.Equal(got, []string{docs}) {
			t.Errorf("sites %q", got)
		}
		for what, err := range map[string]error{
			"dropped again":    second(b.Registry().Drop(t.Context(), shop)),
			"erased elsewhere": second(b.Registry().Erase(t.Context(), unique("none"))),
			"configured": second(b.Registry().Configure(t.Context(), shop, func(c *site.Config) (*site.Config, error) {
				return c, nil
			})),
			"opened": second(b.Open(t.Context(), shop)),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a site that is not there, %s: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestMadeAtOnce: of many who make a site of one name, on an installation that
// nobody has used yet, one succeeds, and the others are told why not.
func TestMadeAtOnce(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		name := unique("s")
		var made, taken atomic.Int64
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() {
				c := p.config
				c.Layout.Data = t.TempDir()
				if p.shared {
					c.Layout = p.config.Layout
				}
				r := sites.NewRegistry(sites.RegistryConfig{Layout: c.Layout, Database: c.Database, Schema: c.Registry, Master: c.Master})
				defer r.Close()
				switch err := r.Create(t.Context(), name); {
				case err == nil:
					made.Add(1)
				case errors.Is(err, fs.ErrExist):
					taken.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		work.Wait()
		if made.Load() != 1 || taken.Load() != 9 {
			t.Errorf("made %d times, taken %d times", made.Load(), taken.Load())
		}
	})
}

// TestLookIsCheap: while nothing changes, a look at any number of sites is one
// statement; a change of one replaces its record and no other.
func TestLookIsCheap(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		r := s.Registry()
		for n := range 40 {
			if err := r.Create(t.Context(), fmt.Sprintf("s%02d", n)); err != nil {
				t.Fatal(err)
			}
		}
		statements := 0
		look := func() []*registry.Record {
			t.Helper()
			statements = 0
			list, err := r.Look(store.WithObserver(t.Context(), func(string, []any, time.Duration) { statements++ }))
			if err != nil || len(list) != 40 {
				t.Fatalf("%d sites, %v", len(list), err)
			}
			return list
		}
		before := look()
		if again := look(); !slices.Equal(before, again) || statements > 1 {
			t.Errorf("%d statements, the same records: %v", statements, slices.Equal(before, again))
		}
		sitetest.Configure(t, s, "s07", "app_name", `"x"`)
		changed := 0
		for i, record := range look() {
			if record != before[i] {
				changed++
				if record.Name != "s07" {
					t.Errorf("%s has another record", record.Name)
				}
			}
		}
		if changed != 1 {
			t.Errorf("%d records are others", changed)
		}
	})
}

// TestTendedOnce: of many processes one has a site's housekeeping to do.
func TestTendedOnce(t *testing.T) {
	p := newProcesses(t, false)
	first, _ := p.start()
	name := unique("s")
	if err := first.Registry().Create(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	var mine atomic.Int64
	var work sync.WaitGroup
	for range 6 {
		s, _ := p.start()
		work.Go(func() {
			list, err := s.Sites(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				ok, err := s.Registry().ClaimMaintenance(t.Context(), list[0])
				if err != nil {
					t.Error(err)
				}
				if ok {
					mine.Add(1)
				}
			}
		})
	}
	work.Wait()
	if mine.Load() != 1 {
		t.Errorf("%d were told that it is theirs", mine.Load())
	}
}
