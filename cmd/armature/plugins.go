package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"armature/core/document"
	"armature/core/egress"
	"armature/core/method"
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

// guests is what runs plugins, and where they come from.
type guests struct {
	engine    *engine.Engine
	registry  *registry.Registry
	loader    *loader.Loader
	installed *installed.Ledger
	plugins   *dispatch.Plugins
	kv        *kv.Cache
	egress    *egress.Client
	logs      *logs.Book
	metrics   *metrics.Metrics

	layout   sites.Layout
	shared   string     // folder of the plugins for all sites
	signers  []string   // whose plugins alone are taken; none: everybody's
	observer bool       // it looks at sites beside their server
	bench    *bench     // nil unless tests run here
	set      *sites.Set // set once the set, which needs the plugins, exists
	watcher  *watch.Watcher
	log      *slog.Logger

	mu   sync.Mutex
	open map[string]string // names of the folders of the sites that were opened
}

// guestOptions is how plugins are run.
type guestOptions struct {
	shared       string // folder of the plugins for all sites; empty: the one in the data folder
	metricsToken string
	idle         time.Duration        // of the sites, as sites.Config has it
	conns        int                  // to PostgreSQL, of all sites together; 0: unbounded
	backups      *sites.Backups       // by schedule; nil: none are made
	slow         func() time.Duration // SQL statements worth logging; nil: none
	observer     bool                 // by a command that ends soon
	bench        *bench               // the tests these plugins run in; nil: they serve
	cache        string               // folder of compiled code; empty: the one in the data folder
	publishers   []string             // whose plugins alone are taken; none: everybody's
	folderLimits manifest.Limits      // what plugins in folders get without being asked; zero fields: as much as they say
}

func openGuests(ctx context.Context, layout sites.Layout, o guestOptions, log *slog.Logger) (*guests, error) {
	// A plugin in a folder is known by its path, which is to be the same for a
	// server and for the commands beside it, wherever they were started.
	for _, dir := range []*string{&layout.Data, &o.shared} {
		if *dir == "" {
			continue
		}
		path, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("folder of plugins: %w", err)
		}
		*dir = path
	}
	cfg := guestEngine(o.hosting(log))
	cfg.CacheDir, cfg.Logger = layout.Cache(), log
	if o.cache != "" {
		cfg.CacheDir = o.cache
	}
	if o.bench != nil {
		cfg.Now = o.bench.Now
	}
	e, err := engine.New(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("WebAssembly: %w", err)
	}
	g := &guests{
		engine: e, registry: registry.New(), kv: kv.New(o.store()), egress: egress.New(egress.Config{}),
		logs: &logs.Book{}, metrics: metrics.New(o.metricsToken),
		layout: layout, shared: o.shared, signers: o.publishers, observer: o.observer, bench: o.bench, log: log,
		open: map[string]string{},
	}
	if g.shared == "" {
		g.shared = layout.Plugins()
	}
	m := meter.New(g.metrics.Registry)
	g.loader = loader.New(loader.Config{
		Engine: e, Registry: g.registry, Logger: log, Read: sandbox.New("plugin", readCommand).Read,
		Changed: func(string) { g.installed.Wake() },
	})
	if g.watcher, err = watch.New(watch.Config{Loader: g.loader, Logger: log}); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	g.installed = installed.New(installed.Config{
		Registry: g.registry, Loader: g.loader, Services: g.services, Folders: g.folders, Bundles: layout.Bundles(),
		Forget:     func(site, plugin string) { g.kv.Drop(site, plugin) },
		Active:     func(site string) bool { return g.set.Active(site) },
		Publishers: g.publishers, FolderLimits: o.folderLimits,
		Logs: g.logs, Meter: m, Logger: log, Observer: o.observer,
	})
	g.plugins = dispatch.New(dispatch.Config{
		Registry: g.registry, Logger: log, Logs: g.logs, Meter: m,
		Services: g.services, Setting: g.setting,
		Grants: g.installed.Grants, Decide: g.installed.Decide,
		KV: g.kv, Fetch: g.fetch, Connected: g.connected,
		SiteLimits: g.limits, Budget: budget{g},
		Record: g.records, Failed: g.keepFailed,
	})
	return g, nil
}

// hosting is what host functions need that no call brings.
func (o guestOptions) hosting(log *slog.Logger) hostapi.Config {
	if o.bench != nil {
		return hostapi.Config{Logger: log, Now: o.bench.Now, Random: o.bench}
	}
	return hostapi.Config{Logger: log}
}

// store is where plugins keep what they keep for a while.
func (o guestOptions) store() kv.Config {
	if o.bench != nil {
		return kv.Config{Now: o.bench.Now}
	}
	return kv.Config{}
}

// start loads the plugins for all sites and follows their folder, and has the
// set look as soon as a site comes or goes.
func (g *guests) start(ctx context.Context) error {
	g.watcher.Tell(g.layout.Sites(), g.set.Look)
	return g.watcher.Follow(ctx, registry.Shared, g.shared)
}

// run keeps what serves up to date until ctx ends.
func (g *guests) run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { g.installed.Run(ctx) })
	if !g.observer {
		work.Go(func() { g.keepLogs(ctx) })
	}
	work.Wait()
}

// Open satisfies sites.Plugins: it adds a site, loads the plugins in its folder
// and follows that.
func (g *guests) Open(site, folder string) (method.Invoker, document.Hooks, error) {
	g.mu.Lock()
	g.open[site] = folder
	g.mu.Unlock()
	records := g.installed.Open(site)
	plugins, err := g.plugins.Open(site)
	if err != nil {
		g.installed.Shut(site)
		return nil, nil, err
	}
	if err := g.watcher.Follow(context.Background(), site, g.layout.SitePlugins(folder)); err != nil {
		g.Shut(site)
		return nil, nil, err
	}
	return records.Invoker(plugins), records.Hooks(plugins), nil
}

// Refresh satisfies sites.Plugins.
func (g *guests) Refresh(ctx context.Context, site string) { g.installed.SyncSite(ctx, site) }

// Shut satisfies sites.Plugins. What plugins keep for a while outlives a nap of
// their site.
func (g *guests) Shut(site string) {
	g.watcher.Unfollow(site)
	g.installed.Shut(site)
	g.plugins.Shut(site)
	g.loader.Forget(site)
	g.writeLogs(site)
	g.logs.Drop(site)
}

// Forget satisfies sites.Plugins.
func (g *guests) Forget(site string) {
	g.kv.Drop(site)
	g.installed.Forget(site)
}

// close ends everything; no site is open any more. Guests that still run are
// given until ctx ends.
func (g *guests) close(ctx context.Context) error {
	g.watcher.Close()
	g.egress.Close()
	return g.engine.Close(ctx)
}

// folder is the folder of a site that was opened.
func (g *guests) folder(site string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.layout.Site(g.open[site])
}

func (g *guests) folders(site string) []string {
	return []string{g.shared, filepath.Join(g.folder(site), "plugins")}
}

func (g *guests) services(site string) dispatch.Services {
	t := g.tenant(site)
	if t == nil {
		return dispatch.Services{}
	}
	return dispatch.Services{Documents: t.Documents, Methods: t.Methods(), Store: t.Store, Users: t.Auth}
}

// publishers are those by whom the plugins of a site have to be signed: one of the
// server's, and one of the site's.
func (g *guests) publishers(site string) [][]string {
	lists := [][]string{g.signers}
	if t := g.tenant(site); t != nil {
		lists = append(lists, t.Site.Config().Publishers())
	}
	return lists
}

// tenant is an open site, or nil.
func (g *guests) tenant(site string) *sites.Tenant {
	if g.set == nil {
		return nil
	}
	return g.set.Tenant(site)
}

// limits are the site's for every call of a plugin.
func (g *guests) limits(site string) manifest.Limits {
	t := g.tenant(site)
	if t == nil {
		return manifest.Limits{}
	}
	return manifest.Limits(t.Site.Config().PluginLimits())
}

func (g *guests) setting(_ context.Context, site, plugin, key string) (json.RawMessage, error) {
	if g.bench != nil {
		if value, ok := g.bench.setting(key); ok {
			return value, nil
		}
	}
	t := g.tenant(site)
	if t == nil {
		return nil, nil
	}
	return t.Site.Config().Plugin(plugin, key), nil
}
