package platform

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"armature/core/document"
	"armature/core/method"
	"armature/core/tenant"
	"armature/plugins/installed"
	"armature/plugins/registry"
)

// guestSite is the plugins of one open site; it satisfies tenant.PluginSite.
type guestSite struct {
	g       *Guests
	on      *tenant.Tenant
	name    string
	records *installed.Site
	plugins *registry.Site
	usable  atomic.Bool // the services of the site are there
}

// Open satisfies tenant.Plugins: it adds a site, loads the plugins in its folder
// and follows that.
func (g *Guests) Open(_ context.Context, t *tenant.Tenant) (tenant.PluginSite, error) {
	s := &guestSite{g: g, on: t, name: t.Site.Name}
	g.mu.Lock()
	g.open[s.name] = s
	g.mu.Unlock()
	s.records = g.Installed.Open(s.name)
	var err error
	if s.plugins, err = g.plugins.Open(s.name); err != nil {
		g.Installed.Shut(s.name)
		g.gone(s)
		return nil, err
	}
	if err := g.watcher.Follow(context.Background(), s.name, t.Home().Plugins); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Forget satisfies tenant.Plugins.
func (g *Guests) Forget(site string) {
	g.KV.Drop(site)
	g.Installed.Forget(site)
}

// Invoker satisfies tenant.PluginSite.
func (s *guestSite) Invoker() method.Invoker { return s.records.Invoker(s.plugins) }

// Hooks satisfies tenant.PluginSite.
func (s *guestSite) Hooks() document.Hooks { return s.records.Hooks(s.plugins) }

// Refresh satisfies tenant.PluginSite.
func (s *guestSite) Refresh(ctx context.Context) {
	s.usable.Store(true)
	s.g.Installed.SyncSite(ctx, s.name)
}

// Close satisfies tenant.PluginSite. What plugins keep for a while outlives a nap of
// their site.
func (s *guestSite) Close() {
	g := s.g
	g.watcher.Unfollow(s.name)
	g.Installed.Shut(s.name)
	g.plugins.Shut(s.name)
	g.Loader.Forget(s.name)
	g.writeLogs(s.name)
	g.Logs.Drop(s.name)
	g.gone(s)
}

func (g *Guests) gone(s *guestSite) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, s.name)
}

// folder is the folder of an open site; empty: it is not open any more.
func (g *Guests) folder(site string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.open[site]; s != nil {
		return s.on.Home().Dir
	}
	return ""
}

func (g *Guests) folders(site string) []string {
	folder := g.folder(site)
	if folder == "" {
		return []string{g.shared}
	}
	return []string{g.shared, filepath.Join(folder, "plugins")}
}

// tenant is an open site whose services can be used, or nil.
func (g *Guests) tenant(site string) *tenant.Tenant {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.open[site]; s != nil && s.usable.Load() {
		return s.on
	}
	return nil
}

// active reports whether a site is open and has had a request lately.
func (g *Guests) active(site string) bool {
	t := g.tenant(site)
	return t != nil && t.Active()
}
