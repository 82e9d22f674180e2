package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"armature/core/document"
	"armature/core/host"
	"armature/core/method"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/registry"
	"armature/plugins/watch"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// guests is what runs plugins, and the folders they come from.
type guests struct {
	engine   *engine.Engine
	registry *registry.Registry
	loader   *loader.Loader
	plugins  *dispatch.Plugins

	layout host.Layout
	shared string    // folder of the plugins for all sites
	set    *host.Set // set once the set, which needs the plugins, exists
	log    *slog.Logger

	mu       sync.Mutex
	watchers map[string]*watch.Watcher // by scope
}

func openGuests(ctx context.Context, layout host.Layout, shared string, log *slog.Logger) (*guests, error) {
	e, err := engine.New(ctx, engine.Config{
		Imports:  hostapi.Imports(hostapi.Config{Logger: log}),
		CacheDir: layout.Cache(),
		Logger:   log,
	})
	if err != nil {
		return nil, fmt.Errorf("WebAssembly: %w", err)
	}
	g := &guests{engine: e, registry: registry.New(), layout: layout, shared: shared, log: log, watchers: map[string]*watch.Watcher{}}
	if g.shared == "" {
		g.shared = layout.Plugins()
	}
	g.loader = loader.New(loader.Config{Engine: e, Registry: g.registry, Logger: log})
	g.plugins = dispatch.New(dispatch.Config{
		Registry: g.registry, Logger: log,
		Services: g.services, Setting: g.setting, Zone: g.zone,
	})
	return g, nil
}

// start loads the plugins for all sites and follows their folder.
func (g *guests) start(ctx context.Context) error {
	return g.follow(ctx, registry.Shared, g.shared)
}

// Open satisfies host.Plugins: it adds a site, loads the plugins that only it
// has and follows their folder.
func (g *guests) Open(site string) (method.Invoker, document.Hooks, error) {
	invoker, hooks, err := g.plugins.Open(site)
	if err != nil {
		return nil, nil, err
	}
	if err := g.follow(context.Background(), site, g.layout.SitePlugins(site)); err != nil {
		g.plugins.Shut(site)
		return nil, nil, err
	}
	return invoker, hooks, nil
}

// Shut satisfies host.Plugins.
func (g *guests) Shut(site string) {
	g.unfollow(site)
	g.plugins.Shut(site)
}

func (g *guests) follow(ctx context.Context, scope, dir string) error {
	w, err := watch.Start(ctx, watch.Config{Dir: dir, Scope: scope, Loader: g.loader, Logger: g.log})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watchers[scope] = w
	return nil
}

func (g *guests) unfollow(scope string) {
	g.mu.Lock()
	w := g.watchers[scope]
	delete(g.watchers, scope)
	g.mu.Unlock()
	if w != nil {
		w.Close()
	}
}

// close ends everything; no site is open any more. Guests that still run are
// given until ctx ends.
func (g *guests) close(ctx context.Context) error {
	g.unfollow(registry.Shared)
	return g.engine.Close(ctx)
}

func (g *guests) services(site string) dispatch.Services {
	t := g.set.Tenant(site)
	if t == nil {
		return dispatch.Services{}
	}
	return dispatch.Services{Documents: t.Documents, Methods: t.Methods(), Store: t.Store}
}

func (g *guests) setting(_ context.Context, site, plugin, key string) (json.RawMessage, error) {
	t := g.set.Tenant(site)
	if t == nil {
		return nil, nil
	}
	return t.Site.Config().Plugin(plugin, key), nil
}

func (g *guests) zone(site string) *time.Location {
	t := g.set.Tenant(site)
	if t == nil {
		return time.UTC
	}
	return t.Site.Location()
}
