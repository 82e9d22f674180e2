package host_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/host"
	"armature/core/host/hosttest"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/site"
	"armature/core/store"
)

// processes makes processes of one installation: on one data folder with SQLite,
// each with a data folder of its own with PostgreSQL.
type processes struct {
	t      *testing.T
	config host.Config
	shared bool // the data folder
}

func eachInstallation(t *testing.T, test func(t *testing.T, p *processes)) {
	t.Run("SQLite", func(t *testing.T) { test(t, newProcesses(t, true)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, newProcesses(t, false)) })
}

func newProcesses(t *testing.T, shared bool) *processes {
	t.Helper()
	p := &processes{t: t, config: host.Config{Version: "test", Password: "correct horse battery"}, shared: shared}
	var err error
	if p.config.Master, err = site.ParseMaster(strings.Repeat("5a", 32)); err != nil {
		t.Fatal(err)
	}
	p.config.Layout = host.Layout{Data: t.TempDir()}
	if !shared {
		hosttest.OnPostgres(t, &p.config)
	}
	return p
}

// start is another process.
func (p *processes) start(change ...func(*host.Config)) (*host.Set, host.Layout) {
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
	s := host.NewSet(c)
	p.t.Cleanup(s.CloseAll)
	return s, c.Layout
}

// unique is the name of a site that no other test has on the same PostgreSQL.
func unique(name string) string {
	return fmt.Sprintf("%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
}

func note(t *testing.T, s *host.Set, name, text string) {
	t.Helper()
	tenant, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	err = tenant.Store.Write(t.Context(), document.Alone, func(tx document.Tx) error {
		_, err := tenant.Documents.Insert(t.Context(), tx, identity.Root(), "ToDo", map[string]any{"description": text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func notes(t *testing.T, s *host.Set, name string) (n int64) {
	t.Helper()
	tenant, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	err = tenant.Store.Read(t.Context(), func(tx document.Tx) (err error) {
		n, err = tenant.Documents.Count(t.Context(), tx, identity.Root(), "ToDo", &query.Query{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func names(t *testing.T, s *host.Set) (names []string) {
	t.Helper()
	sites, err := s.Sites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sites {
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
		create(t, a, shop)
		create(t, b, docs)
		configure(t, b, shop, "hosts", `["shop.example"]`)
		configure(t, a, docs, "hosts", `["docs.example"]`)
		for _, s := range []*host.Set{a, b} {
			s.Refresh(t.Context())
			if x, y, z := acquired(t, s, "shop.example"), acquired(t, s, "docs.example"), acquired(t, s, "other.example"); x != shop || y != docs || z != "" {
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
		if got := acquired(t, a, "shop.example"); got != "" {
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
			"erased elsewhere": b.Registry().Erase(t.Context(), unique("none")),
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

// TestRefusedConfiguration: what a configuration may not say is refused with the
// reason, wherever it is kept, and changes nothing.
func TestRefusedConfiguration(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		name := unique("s")
		create(t, s, name)
		configure(t, s, name, "time_zone", `"Asia/Tokyo"`)
		for key, value := range map[string]string{
			"time_zone": `"Nowhere"`, "hosts": `"a"`, "rate_limit": `{"limit": -1}`, "allowed_private_hosts": `["a b"]`, "max_file_size": `many`, "file_storage": `{}`,
		} {
			_, err := s.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) {
				return c.With(key, json.RawMessage(value))
			})
			if err == nil || !strings.Contains(err.Error()+fault.From(err).Message, key) {
				t.Errorf("%s = %s: %v", key, value, err)
			}
		}
		s.Refresh(t.Context())
		if got := s.Tenant(name).Site.Location().String(); got != "Asia/Tokyo" {
			t.Errorf("time zone %s", got)
		}

		// One that another version has stored is mended by its own key alone.
		p.store(name, `{"time_zone": "Nowhere", "max_file_size": 10}`)
		set := func(key, value string) error {
			return second(s.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) {
				return c.With(key, json.RawMessage(value))
			}))
		}
		s.Refresh(t.Context())
		if sites, err := s.Sites(t.Context()); err != nil || sites[0].Broken == nil {
			t.Errorf("nobody is told that it is broken: %v", err)
		}
		if err := set("max_file_size", "20"); err == nil || !strings.Contains(err.Error(), "time_zone") {
			t.Errorf("another key: %v", err)
		}
		if err := set("time_zone", "null"); err != nil {
			t.Error(err)
		}
		s.Refresh(t.Context())
		if got := s.Tenant(name).Site.Config().MaxFileSize(); got != 10 {
			t.Errorf("max_file_size %d", got)
		}
	})
}

// store stores a configuration past all checks.
func (p *processes) store(name, text string) {
	p.t.Helper()
	if p.shared {
		if err := os.WriteFile(p.config.Layout.Config(name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	sealed := p.config.Master.SealConfig("site_"+name, []byte(text))
	_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_site SET config = $1 WHERE live = $2`, sealed, name)
	if err == nil {
		_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_schema SET epoch = epoch + 1`)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestAnotherMasterKeyOnTheDatabase: whoever has another master key is told so
// before anything is read or written, and what is configured, which may be a
// password, cannot be read in the database.
func TestAnotherMasterKeyOnTheDatabase(t *testing.T) {
	p := newProcesses(t, false)
	s, _ := p.start()
	name := unique("s")
	create(t, s, name)
	configure(t, s, name, "app_name", `"not to be read"`)
	right := p.config.Master
	var err error
	if p.config.Master, err = site.ParseMaster(strings.Repeat("a5", 32)); err != nil {
		t.Fatal(err)
	}
	wrong, _ := p.start()
	for what, err := range map[string]error{
		"list":      second(wrong.Sites(t.Context())),
		"create":    wrong.Registry().Create(t.Context(), unique("t")),
		"drop":      second(wrong.Registry().Drop(t.Context(), name)),
		"configure": second(wrong.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) { return c, nil })),
	} {
		if !errors.Is(err, site.ErrWrongMaster) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.config.Master = right
	again, _ := p.start()
	if got := names(t, again); !slices.Equal(got, []string{name}) {
		t.Errorf("sites %q", got)
	}
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var stored string
	if err := db.QueryRow(`SELECT string_agg(config, ' ') FROM ` + p.config.Registry + `.armature_site`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if stored == "" || strings.Contains(stored, "read") || strings.Contains(stored, "app_name") {
		t.Errorf("stored is %s", stored)
	}
}

// TestAnotherStorage: where the configuration of an open site names another place,
// the files that come then go there, in every process, and no request is held up.
func TestAnotherStorage(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		backend := s3mem.New()
		if err := backend.CreateBucket("files"); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(server.Close)
		settings, err := json.Marshal(map[string]string{"endpoint": server.URL, "bucket": "files", "access_key": "key", "secret_key": "secret"})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := p.start()
		b, _ := p.start()
		name := unique("s")
		create(t, a, name)
		there := open(t, b, name)
		keepFile(t, there, "before.txt", "on disk")
		_, release, err := b.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil)) // which takes long
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		configure(t, a, name, "file_storage", string(settings))
		b.Refresh(t.Context())
		if open(t, b, name) != there {
			t.Error("the site was opened anew")
		}
		keepFile(t, there, "after.txt", "in the bucket")
		list, err := backend.ListBucket("files", nil, gofakes3.ListBucketPage{})
		if err != nil || len(list.Contents) != 1 || !strings.HasPrefix(list.Contents[0].Key, name+"/") {
			t.Errorf("in the bucket: %+v, %v", list.Contents, err)
		}
		a.Refresh(t.Context())
		if status, text := readFile(open(t, a, name), "after.txt"); status != 200 || text != "in the bucket" {
			t.Errorf("another process reads %d %q", status, text)
		}
	})
}

// TestConfiguredAtOnce: processes that set different keys at the same time all
// have their way.
func TestConfiguredAtOnce(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		first, _ := p.start()
		name := unique("s")
		create(t, first, name)
		var work sync.WaitGroup
		for n := range 8 {
			s, _ := p.start()
			work.Go(func() {
				for m := range 5 {
					configure(t, s, name, fmt.Sprintf("key_%d_%d", n, m), fmt.Sprint(n*m))
				}
			})
		}
		work.Wait()
		first.Refresh(t.Context())
		config := first.Tenant(name).Site.Config()
		for n := range 8 {
			for m := range 5 {
				if v, _ := config.Get(fmt.Sprintf("key_%d_%d", n, m)); string(v) != fmt.Sprint(n*m) {
					t.Errorf("key_%d_%d is %q", n, m, v)
				}
			}
		}
	})
}

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
				r := host.NewRegistry(host.RegistryConfig{Layout: c.Layout, Database: c.Database, Schema: c.Registry, Master: c.Master})
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

// TestMadeAnew: a site that was dropped does not come back in the one that is
// made under its name at once, not even where nobody has noticed that it was
// dropped; and its data is not lost.
func TestMadeAnew(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		serving, _ := p.start() // never refreshed: it notices nothing by itself
		name := unique("s")
		create(t, serving, name)
		configure(t, serving, name, "app_name", `"old"`)
		note(t, serving, name, "old")
		serving.Close(name)

		other, _ := p.start()
		kept, err := other.Registry().Drop(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if kept.Folder == "" && kept.Schema == "" {
			t.Error("nobody is told where the data is")
		}
		create(t, other, name)
		if got := acquired(t, serving, "any.example"); got != name {
			t.Errorf("%q answers", got)
		}
		for who, s := range map[string]*host.Set{"who made it": other, "who slept": serving} {
			if n := notes(t, s, name); n != 0 {
				t.Errorf("%s: the new site has %d documents", who, n)
			}
			if _, set := s.Tenant(name).Site.Config().Get("app_name"); set {
				t.Errorf("%s: the new site has the configuration of the old one", who)
			}
		}
		// A process that had it open, too: the tenant is another one.
		old := serving.Tenant(name)
		if _, err := serving.Registry().Drop(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if fresh := create(t, serving, name); fresh == old {
			t.Error("the new site is served by what the old one was")
		}
	})
}

// TestUndrop: a site that was dropped is brought back as it was, unless its name
// is taken, and one that was erased is not.
func TestUndrop(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		name := unique("s")
		create(t, s, name)
		if p.shared {
			if err := s.Registry().Undrop(t.Context(), name); err == nil || !strings.Contains(err.Error(), "dropped") {
				t.Errorf("the error does not say which folder to move: %v", err)
			}
			return
		}
		configure(t, s, name, "app_name", `"old"`)
		note(t, s, name, "old")
		ctx, r := t.Context(), s.Registry()
		if err := r.Undrop(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("nothing was dropped: %v", err)
		}
		drop := func() {
			t.Helper()
			if _, err := r.Drop(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		drop()
		create(t, s, name)
		if err := r.Undrop(ctx, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a site: %v", err)
		}
		if err := r.Erase(ctx, name); err != nil {
			t.Fatal(err)
		}
		if err := r.Undrop(ctx, name); err != nil {
			t.Fatal(err)
		}
		s.Refresh(ctx)
		if n := notes(t, s, name); n != 1 {
			t.Errorf("it came back with %d documents", n)
		}
		if v, _ := s.Tenant(name).Site.Config().Get("app_name"); string(v) != `"old"` {
			t.Errorf("and with app_name %s", v)
		}
		drop()
		if err := r.Erase(ctx, name); err != nil { // those that were dropped
			t.Fatal(err)
		}
		if err := r.Undrop(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an erased site: %v", err)
		}
	})
}

// TestErasingBrokenOff: a site whose erasing was interrupted before anything was
// deleted is there again; one that was left half erased is finished by the next
// try, and that leaves alone what was dropped under the name before.
func TestErasingBrokenOff(t *testing.T) {
	p := newProcesses(t, false)
	s, _ := p.start()
	other, _ := p.start()
	name, ctx, r := unique("s"), t.Context(), s.Registry()
	create(t, s, name)
	note(t, s, name, "kept")
	if _, err := r.Drop(ctx, name); err != nil {
		t.Fatal(err)
	}
	create(t, s, name)
	s.Refresh(ctx)
	note(t, s, name, "one")
	note(t, s, name, "two")

	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	ended := make(chan error, 1)
	go func() { ended <- r.Erase(interrupted, name) }()
	eventually(t, "the site is going", func() bool { return len(names(t, other)) == 0 })
	interrupt()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	s.Refresh(ctx)
	if got := names(t, other); !slices.Equal(got, []string{name}) {
		t.Fatalf("sites %q", got)
	}
	if n := notes(t, s, name); n != 2 {
		t.Errorf("%d documents", n)
	}

	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// A process that was killed.
	if _, err := db.ExecContext(ctx, `UPDATE `+p.config.Registry+`.armature_site SET state = 'erasing', live = NULL WHERE live = $1`, name); err != nil {
		t.Fatal(err)
	}
	if err := r.Erase(ctx, name); err != nil {
		t.Fatal(err)
	}
	if err := r.Undrop(ctx, name); err != nil {
		t.Fatalf("what was dropped before is gone: %v", err)
	}
	s.Refresh(ctx)
	if n := notes(t, s, name); n != 1 {
		t.Errorf("it came back with %d documents", n)
	}
}

// TestStage: a site that is being made is seen by nobody until it is whole; then
// it takes the place of the one that is there only when told to.
func TestStage(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, layout := p.start()
		name, ctx, r := unique("s"), t.Context(), s.Registry()
		config, err := site.ParseConfig([]byte(`{"app_name": "staged"}`))
		if err != nil {
			t.Fatal(err)
		}
		stage := func() host.Stage {
			t.Helper()
			st, err := r.Stage(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			db, err := store.Open(ctx, st.Place().Database, st.Place().Schema, store.Options{})
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		gone := func(st host.Stage) {
			t.Helper()
			if err := st.Discard(); err != nil {
				t.Error(err)
			}
			if exists(st.Dir()) {
				t.Error("the folder is left")
			}
			if schema := st.Place().Schema; schema != "" {
				if found, err := store.HasSchema(ctx, p.config.Database, schema); err != nil || found {
					t.Errorf("the schema is left: %v, %v", found, err)
				}
			}
		}
		first := stage()
		p.start(func(c *host.Config) { c.Layout = layout }) // a process that starts meanwhile
		if got := names(t, s); len(got) != 0 {
			t.Errorf("sites %q", got)
		}
		gone(first)
		create(t, s, name)
		note(t, s, name, "old")
		refused := stage()
		if _, err := refused.Publish(ctx, config, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a site: %v", err)
		}
		gone(refused)
		if n := notes(t, s, name); n != 1 {
			t.Errorf("%d documents", n)
		}
		kept, err := stage().Publish(ctx, config, true)
		if err != nil || kept.Folder == "" && kept.Schema == "" {
			t.Fatalf("kept %+v, %v", kept, err)
		}
		s.Refresh(ctx)
		if n := notes(t, s, name); n != 0 {
			t.Errorf("%d documents", n)
		}
		if v, _ := s.Tenant(name).Site.Config().Get("app_name"); string(v) != `"staged"` {
			t.Errorf("app_name %s", v)
		}
	})
}

// TestErasedEverywhere: what a machine keeps of a site goes when the site is
// erased on another one, whether its server notices or starts later.
func TestErasedEverywhere(t *testing.T) {
	p := newProcesses(t, false)
	a, _ := p.start()
	running, here := p.start()
	name := unique("s")
	create(t, a, name)
	note(t, running, name, "one")
	stopped, later := p.start()
	note(t, stopped, name, "two")
	stopped.CloseAll()
	for _, l := range []host.Layout{here, later} {
		if !exists(l.SitePlugins(name)) {
			t.Fatal("a machine that uses a site has no folder for it")
		}
	}
	if err := a.Registry().Erase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	running.Refresh(t.Context())
	p.start(func(c *host.Config) { c.Layout = later })
	for _, l := range []host.Layout{here, later} {
		if exists(l.Site(name)) {
			t.Errorf("%s is still there", l.Site(name))
		}
	}
	if err := os.MkdirAll(later.SitePlugins(name), 0o700); err != nil { // by hand, for what comes next
		t.Fatal(err)
	}
	p.start(func(c *host.Config) { c.Layout = later })
	if !exists(later.Site(name)) {
		t.Error("a folder that was made since is gone, too")
	}
	if got := names(t, a); len(got) != 0 {
		t.Errorf("sites %q", got)
	}
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
		look := func() []*host.Record {
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
		configure(t, s, "s07", "app_name", `"x"`)
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
			sites, err := s.Sites(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				ok, err := s.Registry().Tend(t.Context(), sites[0])
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

// TestLastConfigurationStays: while a site is opened and closed, what was set
// last is what it goes by after the next look, every time.
func TestLastConfigurationStays(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		name := unique("s")
		create(t, s, name)
		stop := make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Close(name)
					acquired(t, s, "x")
				}
			}
		})
		for n := range 12 {
			configure(t, s, name, "app_name", fmt.Sprint(n))
			s.Refresh(t.Context())
			eventually(t, "the site is open", func() bool { return s.Tenant(name) != nil })
			if tenant := s.Tenant(name); tenant != nil {
				if got, _ := tenant.Site.Config().Get("app_name"); string(got) != fmt.Sprint(n) {
					t.Errorf("set to %d, goes by %s", n, got)
				}
			}
		}
		close(stop)
		work.Wait()
	})
}
