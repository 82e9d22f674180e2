package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"armature/core/document"
	"armature/core/host"
	"armature/core/method"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/registry"
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
	g := &guests{engine: e, registry: registry.New(), layout: layout, shared: shared}
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

// load loads what lies in the folders now. A plugin that cannot be loaded keeps
// nothing else from being served; the loader has logged why.
func (g *guests) load(ctx context.Context) error {
	if err := g.loadDir(ctx, registry.Shared, g.shared); err != nil {
		return err
	}
	sites, err := g.layout.List()
	if err != nil {
		return err
	}
	for _, site := range sites {
		if err := g.loadDir(ctx, site, g.layout.SitePlugins(site)); err != nil {
			return err
		}
	}
	return nil
}

func (g *guests) loadDir(ctx context.Context, scope, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("plugins: %w", err)
	}
	for _, entry := range entries {
		if path := filepath.Join(dir, entry.Name()); bundle.IsBundle(path) {
			_ = g.loader.Load(ctx, scope, path)
		}
	}
	return ctx.Err()
}

func (g *guests) services(site string) (*document.Service, *method.Service) {
	t := g.set.Tenant(site)
	if t == nil {
		return nil, nil
	}
	return t.Documents, t.Methods()
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
