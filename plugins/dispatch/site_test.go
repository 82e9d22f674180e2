package dispatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/store"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/plugintest"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

const (
	todo      = "../../examples/todo"
	misbehave = "../../examples/misbehave"
	events    = "testdata/events"
)

// eng serves all tests: what it has compiled once it need not compile again.
var eng = sync.OnceValues(func() (*engine.Engine, error) {
	// Compiling a Go guest under the race detector takes most of a minute.
	cache, err := testCache()
	if err != nil {
		return nil, err
	}
	return engine.New(context.Background(), engine.Config{
		Imports: hostapi.Imports(hostapi.Config{}), CacheDir: cache,
	})
})

func testCache() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "armature-test"), err
}

func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := testCache()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// site is a site on a real database, with plugins.
type site struct {
	t         testing.TB
	dir       string          // where bundles are installed
	loader    *loader.Sources // of the plugins for all sites
	documents *document.Service
	methods   *method.Service
	store     document.Store
}

func newSite(t testing.TB) *site {
	t.Helper()
	return newSiteWith(t, func(*dispatch.Config) {})
}

// newSiteWith makes a site with other settings.
func newSiteWith(t testing.TB, set func(*dispatch.Config)) *site {
	t.Helper()
	ctx := t.Context()
	s := &site{t: t, dir: t.TempDir()}
	st, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s.store = st
	schema, err := doctypes.Install(ctx, st, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, err := eng()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New()
	s.loader = loader.New(loader.Config{Engine: e}).Open(r.Shared(), "")
	cfg := dispatch.Config{
		Site: "one",
		Services: func() dispatch.Services {
			return dispatch.Services{Documents: s.documents, Methods: s.methods, Store: st}
		},
		Limits: engine.Limits{Wall: 20 * time.Second},
	}
	set(&cfg)
	served := dispatch.Open(r, cfg)
	t.Cleanup(served.Close)
	protection, err := doctypes.Protection()
	if err != nil {
		t.Fatal(err)
	}
	s.documents = document.NewService(document.ServiceConfig{
		Protection: protection,
		Store:      st, Catalog: doctype.NewCatalog(schema), Hooks: []document.Hooks{served},
	})
	s.methods = method.New(method.Config{Invoker: served, Store: st, Documents: s.documents})
	return s
}

// install puts a bundle into the site's folder and loads it.
func (s *site) install(name string, bundle []byte) error {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, bundle, 0o644); err != nil {
		s.t.Fatal(err)
	}
	return s.loader.Load(s.t.Context(), path)
}

// with installs the guests in the given directories.
func (s *site) with(dirs ...string) *site {
	s.t.Helper()
	for _, dir := range dirs {
		if err := s.install(filepath.Base(dir)+".wasm", plugintest.Build(s.t, dir)); err != nil {
			s.t.Fatal(err)
		}
	}
	return s
}

type m = map[string]any

func (s *site) run(verb, path string, args m) (any, error) {
	res, err := s.methods.Run(s.t.Context(), method.Invocation{
		Path: path, Verb: verb, Caller: identity.Root(), Args: method.ArgsMap(args),
	})
	if err != nil || res.Message == nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(res.Message, &v); err != nil {
		s.t.Errorf("%v in %s", err, res.Message)
	}
	return v, nil
}

func (s *site) insert(doctype string, values m) (name string, err error) {
	err = s.store.Write(s.t.Context(), s.documents.WriteMode(doctype), func(tx document.Tx) error {
		doc, err := s.documents.As(identity.Root(), tx).Insert(s.t.Context(), doctype, values)
		if err == nil {
			name = doc.Name()
		}
		return err
	})
	return name, err
}

func (s *site) mustInsert(doctype string, values m) string {
	s.t.Helper()
	name, err := s.insert(doctype, values)
	if err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *site) get(doctype, name string) (doc *doctype.Document, err error) {
	err = s.store.Read(s.t.Context(), func(tx document.Tx) error {
		doc, err = s.documents.As(identity.Root(), tx).Get(s.t.Context(), doctype, name)
		return err
	})
	return doc, err
}

func (s *site) mustGet(doctype, name string) *doctype.Document {
	s.t.Helper()
	doc, err := s.get(doctype, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return doc
}

// parsed is the bundle of the guest in a directory.
func parsed(t testing.TB, dir string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(plugintest.Build(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
