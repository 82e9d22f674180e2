package sites_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
)

// TestTakesFoldersOver: an installation on PostgreSQL whose sites are folders
// goes on with what it had, once; what cannot be read is left alone.
func TestTakesFoldersOver(t *testing.T) {
	p := newProcesses(t, false)
	name, broken := unique("a"), unique("b")
	s, _ := p.start()
	sitetest.Create(t, s, name)
	note(t, s, name, "from before")

	// An installation that knows of the schema by a folder only.
	sitetest.OnPostgres(t, &p.config)
	var log lockedText
	withLog := func(c *sites.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	data := datafolder.Layout{Data: t.TempDir()}
	prepare := func(l datafolder.Layout, name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(l.SitePlugins(name), 0o700), os.WriteFile(l.Config(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	prepare(data, name, `{"hosts": ["a.example"], "later": [1]}`)
	stranger, _ := p.start(func(c *sites.Config) {
		c.Layout = data
		var err error
		if c.Master, err = site.ParseMaster(strings.Repeat("a5", 32)); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := stranger.Sites(t.Context()); !errors.Is(err, site.ErrWrongMaster) || !exists(data.Config(name)) {
		t.Errorf("another master key takes it over: %v", err)
	}
	// A site that has data is not passed over for a mistake in its file.
	prepare(data, name, `{"hosts": `)
	halted, _ := p.start(func(c *sites.Config) { c.Layout = data })
	for what, err := range map[string]error{"list": second(halted.Sites(t.Context())), "create": halted.Registry().Create(t.Context(), name)} {
		if err == nil || !strings.Contains(err.Error(), data.Config(name)) {
			t.Errorf("its configuration is broken, %s: %v", what, err)
		}
	}
	prepare(data, name, `{"hosts": ["a.example"], "later": [1]}`)
	prepare(data, broken, `{"hosts": `)
	at := func(l datafolder.Layout) func(*sites.Config) { return func(c *sites.Config) { c.Layout = l } }
	first, _ := p.start(at(data), withLog)
	if got := sitetest.Acquired(t, first, "a.example"); got != name {
		t.Errorf("%q answers", got)
	}
	if n := notes(t, first, name); n != 1 {
		t.Errorf("%d documents", n)
	}
	if v, _ := first.Tenant(name).Site.Config().Get("later"); string(v) != "[1]" {
		t.Errorf("a key that is not known is %s", v)
	}
	if got := names(t, first); !slices.Equal(got, []string{name}) {
		t.Errorf("sites %q", got)
	}
	if exists(data.Config(name)) || !exists(filepath.Join(data.Site(name), "site_config.taken-over.json")) {
		t.Error("the file looks as if it counted")
	}
	for _, want := range []string{"was taken into the database", "correct it and start again"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}

	// Another machine has a copy of the folder: nothing of it counts any more.
	stale := datafolder.Layout{Data: t.TempDir()}
	prepare(stale, name, `{"hosts": ["stale.example"]}`)
	log.reset()
	other, _ := p.start(at(stale), withLog)
	if x, y := sitetest.Acquired(t, other, "a.example"), sitetest.Acquired(t, other, "stale.example"); x != name || y != "" {
		t.Errorf("%q and %q answer", x, y)
	}
	if !strings.Contains(log.String(), "the file is not read") {
		t.Errorf("nobody is told of the file:\n%s", log.String())
	}
	// Nor does it bring the site back.
	if _, err := other.Registry().Drop(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	third, _ := p.start(at(stale))
	if got := names(t, third); len(got) != 0 {
		t.Errorf("sites %q", got)
	}
}
