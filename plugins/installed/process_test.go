package installed_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/store"
	"armature/plugins/dispatch"
	"armature/plugins/installed"
	"armature/plugins/kv"
	"armature/plugins/loader"
	"armature/plugins/logs"
	"armature/plugins/meter"
	"armature/plugins/plugintest"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

type m = map[string]any

// eng serves all tests.
var eng = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.New(context.Background(), engine.Config{Imports: hostapi.Imports(hostapi.Config{})})
})

// process is one server on a site's database.
type process struct {
	t         testing.TB
	dir       string // folder of the plugins for all sites
	bundles   string // folder of copies
	store     document.Store
	documents *document.Service
	methods   *method.Service
	loader    *loader.Sources // of the plugins for all sites
	installed *installed.Site
	table     *registry.Site
	kv        *kv.Site
	fetched   []string // URLs that guests have asked for
}

// start opens the site in the database file, with a folder of plugins.
func start(t testing.TB, file, dir string) *process { return begin(t, file, dir, false) }

// observe is a command that looks at the site beside its server.
func observe(t testing.TB, file, dir string) *process { return begin(t, file, dir, true) }

func begin(t testing.TB, file, dir string, observer bool) *process {
	t.Helper()
	ctx := t.Context()
	st, err := store.OpenSQLite(ctx, file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	schema, err := doctypes.Install(ctx, st, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, err := eng()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, dir: dir, bundles: filepath.Join(filepath.Dir(file), "bundles"), store: st, kv: kv.NewMemory(kv.Config{}).Site()}
	services := func() dispatch.Services {
		return dispatch.Services{Documents: p.documents, Methods: p.methods, Store: p.store}
	}
	book, tallies, counts := &logs.Book{}, &meter.Tallies{}, meter.New(prometheus.NewRegistry())
	reg, l := registry.New(), loader.New(loader.Config{Engine: e})
	p.loader = l.Open(reg.Shared(), "")
	records := installed.NewRecords(installed.Rules{Bundles: installed.NewBundleStore(p.bundles, time.Now)})
	p.table = dispatch.Open(reg, dispatch.Config{
		Site: "one", Services: services, Logs: book, Meter: counts, Tallies: tallies, Grants: records.Grants, Decide: records.Decide, KV: p.kv,
		Fetch: func(hosts []string) hostapi.Fetch {
			return func(_ context.Context, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
				if !slices.Contains(hosts, r.URL) {
					return nil, fault.Denied("%s is not a host that may be reached", r.URL)
				}
				p.fetched = append(p.fetched, r.URL)
				return &hostapi.HTTPResponse{Status: 200}, nil
			}
		},
	})
	p.installed = installed.New(installed.Config{
		Name: "one", Records: records, Services: services,
		Registry: reg, Table: p.table, Shared: p.loader, Own: l.Open(p.table.Scope, "site"), Folders: []string{dir},
		Forget: func(plugin string) { p.kv.Drop(plugin) }, Logs: book, Tallies: tallies, Meter: counts, Observer: observer,
	})
	t.Cleanup(func() {
		p.installed.Close()
		p.table.Close()
	})
	protection, err := doctypes.Protection()
	if err != nil {
		t.Fatal(err)
	}
	p.documents = document.NewService(document.ServiceConfig{
		Protection: protection,
		Store:      st, Catalog: doctype.NewCatalog(schema), Hooks: []document.Hooks{p.installed.Hooks()},
	})
	p.methods = method.New(method.Config{Invoker: p.installed.Invoker(), Store: st, Documents: p.documents})
	if path := p.path(); exists(path) {
		_ = p.loader.Load(ctx, path) // as the watcher does
	}
	p.sync()
	return p
}

func newProcess(t testing.TB) *process {
	t.Helper()
	return start(t, filepath.Join(t.TempDir(), "site.db"), t.TempDir())
}

func (p *process) sync() {
	p.t.Helper()
	if err := p.installed.Sync(p.t.Context()); err != nil {
		p.t.Error(err)
	}
}

func (p *process) call(verb, path string, args m) (any, error) {
	return p.callAs(identity.Root(), verb, path, args)
}

func (p *process) callAs(caller *identity.Caller, verb, path string, args m) (any, error) {
	res, err := p.methods.Run(p.t.Context(), method.Invocation{Path: path, Verb: verb, Caller: caller, Args: method.ArgsMap(args)})
	if err != nil || res.Message == nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(res.Message, &v); err != nil {
		p.t.Errorf("%v in %s", err, res.Message)
	}
	return v, nil
}

// manage calls one of framework.plugins.*, which must succeed.
func (p *process) manage(name string, args m) m {
	p.t.Helper()
	v, err := p.call(http.MethodPost, "framework.plugins."+name, args)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	got, _ := v.(m)
	return got
}

// refuses demands an error of a kind.
func (p *process) refuses(kind fault.Kind, path string, args m) *fault.Error {
	p.t.Helper()
	_, err := p.call(http.MethodPost, path, args)
	if fault.KindOf(err) != kind {
		p.t.Fatalf("%s: error %v, want kind %d", path, err, kind)
	}
	return fault.From(err)
}

func (p *process) install(wasm []byte, more ...any) m {
	p.t.Helper()
	args := m{"wasm": base64.StdEncoding.EncodeToString(wasm)}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return p.manage("install", args)
}

// approved installs a bundle and approves what it asks for, and what is named.
func (p *process) approved(wasm []byte, named ...any) {
	p.t.Helper()
	done := p.install(wasm)
	p.manage("approve", m{"plugin": done["plugin"]})
	if len(named) > 0 {
		p.manage("approve", m{"plugin": done["plugin"], "grants": named})
	}
}

// version is which version of acme.a serves; empty: none.
func (p *process) version() string {
	if g := p.table.Serving()["acme.a"]; g != nil {
		return g.Manifest.Version
	}
	return ""
}

func (p *process) serves(want string) {
	p.t.Helper()
	if got := p.version(); got != want {
		p.t.Fatalf("version %q serves, want %q", got, want)
	}
}

// status is the status of acme.a in its document.
func (p *process) status(want installed.Status) {
	p.t.Helper()
	if got := p.record()["status"]; got != string(want) {
		p.t.Fatalf("status %v, want %s: %v", got, want, p.record())
	}
}

func (p *process) record() m {
	p.t.Helper()
	v, err := p.call(http.MethodGet, "framework.plugins.list", m{"plugin": "acme.a"})
	if err != nil {
		p.t.Fatal(err)
	}
	return v.([]any)[0].(m)
}

func (p *process) path() string { return filepath.Join(p.dir, "a.wasm") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// put places a bundle in the folder and loads it, as the watcher does.
func (p *process) put(wasm []byte) error {
	p.t.Helper()
	path := p.path()
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		p.t.Fatal(err)
	}
	err := p.loader.Load(p.t.Context(), path)
	p.sync()
	return err
}

// plugin is acme.a in a version that imports the capabilities.
func plugin(t testing.TB, version string, more m, capabilities ...string) []byte {
	t.Helper()
	return plugintest.Asks(t, "acme.a", version, version, more, capabilities...)
}

// epoch is raised by whoever writes what other processes have to notice.
func (p *process) epoch() int64 {
	p.t.Helper()
	v, err := p.store.Versions(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return v.Epoch
}
