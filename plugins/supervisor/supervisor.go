// Package supervisor opens the plugins of a site as one object.
//
// A Site is all there is of the plugins of one open site: their records, the table of
// what serves, what is known of their sources, what they keep and log, the folder that
// is followed. It lives from Open to Close. The Supervisor is what the sites of a
// process have in common: compiled modules, the plugins for all sites, one watcher, one
// bound for what is kept, and the little that outlives the nap of a site.
package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"armature/plugins/bundle"
	"armature/plugins/installed"
	"armature/plugins/kv"
	"armature/plugins/loader"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/registry"
	"armature/plugins/watch"
	"armature/runtime/engine"
)

// Config is what the sites of a process have in common.
type Config struct {
	Engine  *engine.Engine // whoever made it closes it, after the Supervisor
	Folder  string         // of the plugins for all sites
	Bundles string         // folder for copies of what serves from folders; empty: none are made

	// Read reads the bundle at a path for a site, or for all without a name; nil:
	// bundle.Read, in this process.
	Read func(ctx context.Context, site, path string) (*bundle.Bundle, error)

	Publishers   []string        // whose plugins alone are taken; none: everybody's
	FolderLimits manifest.Limits // what plugins in folders get without being asked; zero fields: as much as they say

	KV     kv.Config
	Meter  *meter.Meter
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now

	// Observer leaves the sites' documents and logs alone: a command that looks at a
	// site beside its server.
	Observer bool
}

// Supervisor opens the plugins of sites. It is safe for concurrent use.
type Supervisor struct {
	cfg      Config
	log      *slog.Logger
	registry *registry.Registry
	loader   *loader.Loader
	shared   *loader.Sources // of the plugins for all sites
	watcher  *watch.Watcher
	memory   *kv.Memory
	bundles  *installed.BundleStore
	wake     chan struct{} // has Run look at once

	mu         sync.Mutex
	open       map[string]*Site
	remembered map[string]remembered // of sites that are open or asleep
}

// remembered is what outlives the nap of a site.
type remembered struct {
	kept   *kv.Site
	hashes []string // of the bundles that its records named when it was closed
}

// New makes a supervisor without sites.
func New(cfg Config) (*Supervisor, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v := &Supervisor{
		cfg: cfg, log: cfg.Logger, registry: registry.New(), memory: kv.NewMemory(cfg.KV), wake: make(chan struct{}, 1),
		open: map[string]*Site{}, remembered: map[string]remembered{},
	}
	if cfg.Bundles != "" {
		v.bundles = installed.NewBundleStore(cfg.Bundles, cfg.Now)
	}
	v.loader = loader.New(loader.Config{Engine: cfg.Engine, Logger: cfg.Logger, Read: cfg.Read, Changed: v.lookSoon})
	v.shared = v.loader.Open(v.registry.Shared(), "")
	var err error
	if v.watcher, err = watch.New(watch.Config{Logger: cfg.Logger}); err != nil {
		return nil, err
	}
	return v, nil
}

// Start loads the plugins for all sites and follows their folder.
func (v *Supervisor) Start(ctx context.Context) error {
	if _, err := v.watcher.Follow(ctx, v.shared, v.cfg.Folder); err != nil {
		return fmt.Errorf("the plugins for all sites: %w", err)
	}
	return nil
}

// Close ends the following of folders. No site is open any more.
func (v *Supervisor) Close() { v.watcher.Close() }

// Site is an open site, or nil.
func (v *Supervisor) Site(name string) *Site {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.open[name]
}

// Shared are the sources of the plugins for all sites, for whoever puts one into service
// without waiting for the watcher.
func (v *Supervisor) Shared() *loader.Sources { return v.shared }

// Tell has fn called whenever something comes, goes or changes directly in a
// directory, which must exist. fn must not block.
func (v *Supervisor) Tell(dir string, fn func()) { v.watcher.Tell(dir, fn) }

// Forget drops what outlives the naps of a site, which is gone for good. Requests that it
// still has may leave something more: whoever waits for them calls it again after Close.
func (v *Supervisor) Forget(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if of, ok := v.remembered[name]; ok {
		delete(v.remembered, name)
		of.kept.Drop()
	}
}

// lookSoon has Run look at once.
func (v *Supervisor) lookSoon() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// all are the open sites.
func (v *Supervisor) all() []*Site {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]*Site, 0, len(v.open))
	for _, s := range v.open {
		all = append(all, s)
	}
	return all
}
