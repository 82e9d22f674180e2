package host_test

import (
	"errors"
	"io/fs"
	"testing"

	"armature/core/host"
	"armature/core/site"
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
