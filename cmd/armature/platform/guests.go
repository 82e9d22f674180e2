package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"armature/core/egress"
	"armature/core/identity"
	"armature/core/metrics"
	"armature/core/sites"
	"armature/plugins/dispatch"
	"armature/plugins/installed"
	"armature/plugins/kv"
	"armature/plugins/loader"
	"armature/plugins/logs"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/registry"
	"armature/plugins/sandbox"
	"armature/plugins/watch"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// ReadCommand is the command by which a server starts itself to read a script.
const ReadCommand = "read"

// Guests is what runs plugins, and where they come from.
type Guests struct {
	engine    *engine.Engine
	registry  *registry.Registry
	Loader    *loader.Loader
	Installed *installed.Ledger
	plugins   *dispatch.Plugins
	KV        *kv.Cache
	egress    *egress.Client
	Logs      *logs.Book
	Metrics   *metrics.Metrics

	Layout   sites.Layout
	shared   string     // folder of the plugins for all sites
	signers  []string   // whose plugins alone are taken; none: everybody's
	observer bool       // it looks at sites beside their server
	test     Simulation // nil unless tests run here
	watcher  *watch.Watcher
	log      *slog.Logger

	mu   sync.Mutex
	open map[string]*guestSite // by name of the site
}

// Simulation is what stands in place of the world for plugins whose tests run.
type Simulation interface {
	Now() time.Time
	io.Reader // randomness
	Setting(key string) (value json.RawMessage, set bool)
	Fetch(hosts []string) hostapi.Fetch
	Connected(ctx context.Context, caller *identity.Caller, app string, asApp bool, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error)
}

// Options is how plugins are run.
type Options struct {
	Shared       string // folder of the plugins for all sites; empty: the one in the data folder
	MetricsToken string
	Idle         time.Duration        // of the sites, as sites.Config has it
	Conns        int                  // to PostgreSQL, of all sites together; 0: unbounded
	Backups      *sites.Backups       // by schedule; nil: none are made
	Slow         func() time.Duration // SQL statements worth logging; nil: none
	observer     bool                 // by a command that ends soon
	Test         Simulation           // of the tests these plugins run in; nil: they serve
	Cache        string               // folder of compiled code; empty: the one in the data folder
	publishers   []string             // whose plugins alone are taken; none: everybody's
	folderLimits manifest.Limits      // what plugins in folders get without being asked; zero fields: as much as they say
}

func openGuests(ctx context.Context, layout sites.Layout, o Options, log *slog.Logger) (*Guests, error) {
	// A plugin in a folder is known by its path, which is to be the same for a
	// server and for the commands beside it, wherever they were started.
	for _, dir := range []*string{&layout.Data, &o.Shared} {
		if *dir == "" {
			continue
		}
		path, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("folder of plugins: %w", err)
		}
		*dir = path
	}
	cfg := EngineConfig(o.hosting(log))
	cfg.CacheDir, cfg.Logger = layout.Cache(), log
	if o.Cache != "" {
		cfg.CacheDir = o.Cache
	}
	if o.Test != nil {
		cfg.Now = o.Test.Now
	}
	e, err := engine.New(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("WebAssembly: %w", err)
	}
	g := &Guests{
		engine: e, registry: registry.New(), KV: kv.New(o.store()), egress: egress.New(egress.Config{}),
		Logs: &logs.Book{}, Metrics: metrics.New(o.MetricsToken),
		Layout: layout, shared: o.Shared, signers: o.publishers, observer: o.observer, test: o.Test, log: log,
		open: map[string]*guestSite{},
	}
	if g.shared == "" {
		g.shared = layout.Plugins()
	}
	m := meter.New(g.Metrics.Registry)
	g.Loader = loader.New(loader.Config{
		Engine: e, Registry: g.registry, Logger: log, Read: sandbox.New("plugin", ReadCommand).Read,
		Changed: func(string) { g.Installed.Wake() },
	})
	if g.watcher, err = watch.New(watch.Config{Loader: g.Loader, Logger: log}); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	g.Installed = installed.New(installed.Config{
		Registry: g.registry, Loader: g.Loader, Services: g.services, Folders: g.folders, Bundles: layout.Bundles(),
		Forget:     func(site, plugin string) { g.KV.Drop(site, plugin) },
		Active:     g.active,
		Publishers: g.publishers, FolderLimits: o.folderLimits,
		Logs: g.Logs, Meter: m, Logger: log, Observer: o.observer,
	})
	g.plugins = dispatch.New(dispatch.Config{
		Registry: g.registry, Logger: log, Logs: g.Logs, Meter: m,
		Services: g.services, Setting: g.Setting,
		Grants: g.Installed.Grants, Decide: g.Installed.Decide,
		KV: g.KV, Fetch: g.fetch, Connected: g.connected,
		SiteLimits: g.limits, Budget: budget{g},
		Record: g.records, Failed: g.keepFailed,
	})
	return g, nil
}

// hosting is what host functions need that no call brings.
func (o Options) hosting(log *slog.Logger) hostapi.Config {
	if o.Test != nil {
		return hostapi.Config{Logger: log, Now: o.Test.Now, Random: o.Test}
	}
	return hostapi.Config{Logger: log}
}

// store is where plugins keep what they keep for a while.
func (o Options) store() kv.Config {
	if o.Test != nil {
		return kv.Config{Now: o.Test.Now}
	}
	return kv.Config{}
}

// start loads the plugins for all sites and follows their folder. look is told as
// soon as a site comes or goes.
func (g *Guests) start(ctx context.Context, look func()) error {
	g.watcher.Tell(g.Layout.Sites(), look)
	return g.watcher.Follow(ctx, registry.Shared, g.shared)
}

// run keeps what serves up to date until ctx ends.
func (g *Guests) run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { g.Installed.Run(ctx) })
	if !g.observer {
		work.Go(func() { g.keepLogs(ctx) })
	}
	work.Wait()
}

// close ends everything; no site is open any more. Guests that still run are
// given until ctx ends.
func (g *Guests) close(ctx context.Context) error {
	g.watcher.Close()
	g.egress.Close()
	return g.engine.Close(ctx)
}

func (g *Guests) services(site string) dispatch.Services {
	t := g.tenant(site)
	if t == nil {
		return dispatch.Services{}
	}
	return dispatch.Services{Documents: t.Documents, Methods: t.Methods(), Store: t.Store, Users: t.Auth}
}

// publishers are those by whom the plugins of a site have to be signed: one of the
// server's, and one of the site's.
func (g *Guests) publishers(site string) [][]string {
	lists := [][]string{g.signers}
	if t := g.tenant(site); t != nil {
		lists = append(lists, t.Site.Config().Publishers())
	}
	return lists
}

// limits are the site's for every call of a plugin.
func (g *Guests) limits(site string) manifest.Limits {
	t := g.tenant(site)
	if t == nil {
		return manifest.Limits{}
	}
	return manifest.Limits(t.Site.Config().PluginLimits())
}

func (g *Guests) Setting(_ context.Context, site, plugin, key string) (json.RawMessage, error) {
	if g.test != nil {
		if value, ok := g.test.Setting(key); ok {
			return value, nil
		}
	}
	t := g.tenant(site)
	if t == nil {
		return nil, nil
	}
	return t.Site.Config().Plugin(plugin, key), nil
}
