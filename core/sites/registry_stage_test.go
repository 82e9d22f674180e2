package sites_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/registry"
	"armature/core/sites/sitetest"
	"armature/core/store"
)

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
		stage := func() registry.Stage {
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
		gone := func(st registry.Stage) {
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
		p.start(func(c *sites.Config) { c.Layout = layout }) // a process that starts meanwhile
		if got := names(t, s); len(got) != 0 {
			t.Errorf("sites %q", got)
		}
		gone(first)
		sitetest.Create(t, s, name)
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

// TestStageBrokenOff: what a process that was killed has left of a site it made is
// cleared away once nobody can be making it any more.
func TestStageBrokenOff(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		ctx, r := t.Context(), s.Registry()
		stage := func() registry.Stage {
			t.Helper()
			st, err := r.Stage(ctx, unique("s"))
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
		killed, begun := stage(), stage()
		p.age(killed, 25*time.Hour)
		p.age(begun, 23*time.Hour)
		for range 2 {
			if err := r.Sweep(ctx); err != nil {
				t.Error(err)
			}
		}
		for what, st := range map[string]registry.Stage{"killed": killed, "begun": begun} {
			want := what == "begun"
			if exists(st.Dir()) != want {
				t.Errorf("%s: the folder is there: %v", what, !want)
			}
			if schema := st.Place().Schema; schema != "" {
				if found, err := store.HasSchema(ctx, p.config.Database, schema); err != nil || found != want {
					t.Errorf("%s: the schema is there: %v, %v", what, found, err)
				}
			}
		}
		if err := begun.Discard(); err != nil {
			t.Error(err)
		}
	})
}

// age has a stage be as if nobody had touched it for so long.
func (p *processes) age(st registry.Stage, by time.Duration) {
	p.t.Helper()
	at := time.Now().Add(-by)
	err := filepath.WalkDir(st.Dir(), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, at, at))
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.shared {
		return
	}
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_site SET modified = modified - make_interval(secs => $1) WHERE name = $2`,
		by.Seconds(), st.Place().Schema)
	if err != nil {
		p.t.Fatal(err)
	}
}
