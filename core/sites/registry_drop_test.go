package sites_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
	"armature/core/store"
)

// TestMadeAnew: a site that was dropped does not come back in the one that is
// made under its name at once, not even where nobody has noticed that it was
// dropped; and its data is not lost.
func TestMadeAnew(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		serving, _ := p.start() // never refreshed: it notices nothing by itself
		name := unique("s")
		sitetest.Create(t, serving, name)
		sitetest.Configure(t, serving, name, "app_name", `"old"`)
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
		sitetest.Create(t, other, name)
		if got := sitetest.Acquired(t, serving, "any.example"); got != name {
			t.Errorf("%q answers", got)
		}
		for who, s := range map[string]*sites.Set{"who made it": other, "who slept": serving} {
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
		if fresh := sitetest.Create(t, serving, name); fresh == old {
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
		sitetest.Create(t, s, name)
		if p.shared {
			if err := s.Registry().Undrop(t.Context(), name); err == nil || !strings.Contains(err.Error(), "dropped") {
				t.Errorf("the error does not say which folder to move: %v", err)
			}
			return
		}
		sitetest.Configure(t, s, name, "app_name", `"old"`)
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
		sitetest.Create(t, s, name)
		if err := r.Undrop(ctx, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a site: %v", err)
		}
		if kept, err := r.Erase(ctx, name); err != nil || kept != 1 {
			t.Fatalf("%d dropped before are kept, %v", kept, err)
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
		if kept, err := r.Erase(ctx, name); err != nil || kept != 0 { // those that were dropped
			t.Fatalf("%d dropped before are kept, %v", kept, err)
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
	sitetest.Create(t, s, name)
	note(t, s, name, "kept")
	if _, err := r.Drop(ctx, name); err != nil {
		t.Fatal(err)
	}
	sitetest.Create(t, s, name)
	s.Refresh(ctx)
	note(t, s, name, "one")
	note(t, s, name, "two")

	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	ended := make(chan error, 1)
	go func() { ended <- second(r.Erase(interrupted, name)) }()
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

	p.forget(name, "erasing") // a process that was killed
	if kept, err := r.Erase(ctx, name); err != nil || kept != 1 {
		t.Fatalf("%d dropped before are kept, %v", kept, err)
	}
	if err := r.Undrop(ctx, name); err != nil {
		t.Fatalf("what was dropped before is gone: %v", err)
	}
	s.Refresh(ctx)
	if n := notes(t, s, name); n != 1 {
		t.Errorf("it came back with %d documents", n)
	}
}

// forget leaves a site as a process does that is killed while it erases it.
func (p *processes) forget(name, state string) {
	p.t.Helper()
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_site SET state = $1, live = NULL WHERE site = $2 AND state IN ('live', 'leaving')`, state, name)
	if err == nil {
		_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_schema SET epoch = epoch + 1`)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestErasedByTwo: of two who erase a site at once neither undoes what the other
// has done, whenever one of them is interrupted.
func TestErasedByTwo(t *testing.T) {
	p := newProcesses(t, false)
	s, _ := p.start()
	other, _ := p.start()
	there, machine := p.start()
	ctx, r := t.Context(), s.Registry()
	begin := func(ctx context.Context, s *sites.Set, name string) chan error {
		ended := make(chan error, 1)
		go func() { ended <- second(s.Registry().Erase(ctx, name)) }()
		return ended
	}
	leaving := func(name string) {
		t.Helper()
		eventually(t, "the site is going", func() bool { return !slices.Contains(names(t, there), name) })
	}

	// Interrupted while the other waits.
	name := unique("s")
	sitetest.Create(t, s, name)
	note(t, there, name, "one")
	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	one := begin(interrupted, s, name)
	leaving(name)
	seen := make(chan struct{})
	saw := sync.OnceFunc(func() { close(seen) })
	two := begin(store.WithObserver(ctx, func(_ string, args []any, _ time.Duration) {
		if slices.Contains(args, any("leaving")) {
			saw()
		}
	}), other, name)
	<-seen
	interrupt()
	if err := <-one; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is there again") {
		t.Errorf("interrupted: %v", err)
	}
	if !exists(machine.SitePlugins(name)) {
		t.Error("a machine has deleted the folder of a site that was put back")
	}
	there.Refresh(ctx)
	if err := <-two; err == nil || !strings.Contains(err.Error(), "brought back") {
		t.Errorf("the other says %v", err)
	}
	there.Refresh(ctx)
	if n := notes(t, there, name); n != 1 {
		t.Errorf("%d documents", n)
	}

	// Interrupted when the other has begun to delete.
	interrupted, interrupt = context.WithCancel(ctx)
	defer interrupt()
	one = begin(interrupted, s, name)
	leaving(name)
	p.forget(name, "erasing")
	interrupt()
	if err := <-one; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "not put back") {
		t.Errorf("interrupted: %v", err)
	}
	if got := names(t, s); slices.Contains(got, name) {
		t.Error("a site is there again whose data is being deleted")
	}

	// Neither is interrupted, and one that is killed is made good.
	one, two = begin(ctx, s, name), begin(ctx, other, name)
	for _, ended := range []chan error{one, two} {
		if err := <-ended; err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if err := r.Undrop(ctx, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an erased site: %v", err)
	}
	killed := unique("k")
	sitetest.Create(t, s, killed)
	note(t, there, killed, "one")
	p.forget(killed, "leaving")
	if err := r.Undrop(ctx, killed); err != nil {
		t.Error(err)
	}
	s.Refresh(ctx)
	if n := notes(t, s, killed); n != 1 {
		t.Errorf("it came back with %d documents", n)
	}
	p.forget(killed, "leaving")
	one, two = begin(ctx, s, killed), begin(ctx, other, killed)
	for _, ended := range []chan error{one, two} {
		if err := <-ended; err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if found, err := store.HasSchema(ctx, p.config.Database, "site_"+killed); err != nil || found {
		t.Errorf("the schema is left: %v, %v", found, err)
	}
}

// TestErasedEverywhere: what a machine keeps of a site goes when the site is
// erased on another one, whether its server notices or starts later.
func TestErasedEverywhere(t *testing.T) {
	p := newProcesses(t, false)
	a, _ := p.start()
	running, here := p.start()
	name := unique("s")
	sitetest.Create(t, a, name)
	note(t, running, name, "one")
	stopped, later := p.start()
	note(t, stopped, name, "two")
	stopped.CloseAll()
	for _, l := range []datafolder.Layout{here, later} {
		if !exists(l.SitePlugins(name)) {
			t.Fatal("a machine that uses a site has no folder for it")
		}
	}
	p.forget(name, "leaving")
	if got := names(t, running); len(got) != 0 || !exists(here.Site(name)) {
		t.Errorf("sites %q; the folder of one that may be put back yet is there: %v", got, exists(here.Site(name)))
	}
	if _, err := a.Registry().Erase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	running.Refresh(t.Context())
	p.start(func(c *sites.Config) { c.Layout = later })
	for _, l := range []datafolder.Layout{here, later} {
		if exists(l.Site(name)) {
			t.Errorf("%s is still there", l.Site(name))
		}
	}
	if err := os.MkdirAll(later.SitePlugins(name), 0o700); err != nil { // by hand, for what comes next
		t.Fatal(err)
	}
	p.start(func(c *sites.Config) { c.Layout = later })
	if !exists(later.Site(name)) {
		t.Error("a folder that was made since is gone, too")
	}
	if got := names(t, a); len(got) != 0 {
		t.Errorf("sites %q", got)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
