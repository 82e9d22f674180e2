package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/core/method"
	"armature/plugins/dispatch"
	"armature/plugins/installed"
	"armature/plugins/kv"
	"armature/plugins/loader"
	"armature/plugins/logs"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/registry"
	"armature/plugins/replay"
	"armature/plugins/watch"
	"armature/runtime/hostapi"
)

// SiteConfig is what a site brings for its plugins. All but Name, Folder and Services may
// be left out.
type SiteConfig struct {
	Name   string
	Folder string // of the plugins of this site alone

	// Services are the site's, asked for from the first Refresh on.
	Services func() dispatch.Services
	// Active says whether the site is in use: Run leaves others alone, and whoever uses
	// one again calls Refresh first. nil: it is.
	Active func() bool

	Setting    func(ctx context.Context, plugin, key string) (json.RawMessage, error)
	Publishers func() []string        // whose plugins alone the site takes
	Limits     func() manifest.Limits // what no call may exceed
	Fetch      func(given []string) hostapi.Fetch
	Connected  hostapi.Connected
	Budget     dispatch.Budget
	Record     func() bool        // whether failed calls are kept
	Failed     func(*replay.Call) // keeps one

	// KVBytes is how many bytes of memory the plugins may keep for a while; 0, and nil:
	// only the memory of all sites bounds them.
	KVBytes func() int64
	// Grow admits the bytes of a bundle that is about to be kept in a transaction; nil:
	// every one is.
	Grow func(ctx context.Context, tx document.Tx, bytes int64) error

	// Scheduled is told that other schedules serve than it was told of last; an error has it
	// told again. nil: nobody is.
	Scheduled func(context.Context) error

	// Logged is handed the latest lines of a plugin that has logged something, once a
	// second, and when the site is closed.
	Logged func(plugin string, lines []json.RawMessage)
}

// Site is the plugins of one open site.
type Site struct {
	v         *Supervisor
	cfg       SiteConfig
	kept      *kv.Site
	logs      *logs.Book
	tallies   *meter.Tallies
	records   *installed.Records
	table     *registry.Site
	sources   *loader.Sources
	installed *installed.Site
	folder    *watch.Folder
	usable    atomic.Bool // the site's services can be used

	telling   sync.Mutex // of schedules
	scheduled []method.Scheduled
}

// Open opens the plugins of a site: what it keeps, what decides, what serves, where that
// comes from. Nothing serves before the first Refresh. A site is open once.
func (v *Supervisor) Open(ctx context.Context, cfg SiteConfig) (*Site, error) {
	s := &Site{v: v, cfg: cfg, logs: &logs.Book{}, tallies: &meter.Tallies{}}
	if err := v.enter(s); err != nil {
		return nil, err
	}
	s.records = installed.NewRecords(installed.Rules{Publishers: s.publishers, FolderLimits: v.cfg.FolderLimits, Bundles: v.bundles})
	s.table = dispatch.Open(v.registry, dispatch.Config{
		Site: cfg.Name, Logger: v.log, Logs: s.logs, Meter: v.cfg.Meter, Tallies: s.tallies,
		Services: s.services, Setting: cfg.Setting, Grants: s.records.Grants, Decide: s.records.Decide,
		KV: s.kept, Fetch: cfg.Fetch, Connected: cfg.Connected, Record: cfg.Record, Failed: cfg.Failed,
		SiteLimits: cfg.Limits, Budget: cfg.Budget,
	})
	s.sources = v.loader.Open(s.table.Scope, cfg.Name)
	s.installed = installed.New(installed.Config{
		Name: cfg.Name, Records: s.records, Services: s.services,
		Registry: v.registry, Table: s.table, Shared: v.shared, Own: s.sources,
		Folders: []string{v.cfg.Folder, cfg.Folder}, Forget: func(plugin string) { s.kept.Drop(plugin) },
		Logs: s.logs, Tallies: s.tallies, Meter: v.cfg.Meter, Logger: v.log, Now: v.cfg.Now, Observer: v.cfg.Observer, Grow: cfg.Grow,
	})
	var err error
	if s.folder, err = v.watcher.Follow(context.WithoutCancel(ctx), s.sources, cfg.Folder); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// enter takes a site in, with what outlived its nap.
func (v *Supervisor) enter(s *Site) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	name := s.cfg.Name
	if v.open[name] != nil {
		return fmt.Errorf("the plugins of site %s are open already", name)
	}
	of, slept := v.remembered[name]
	if !slept {
		of.kept = v.memory.Site()
	}
	if s.cfg.KVBytes != nil {
		of.kept.Bound(s.cfg.KVBytes)
	}
	s.kept, v.open[name], v.remembered[name] = of.kept, s, of
	return nil
}

// Close takes the plugins out of service. The site's services can be used until it has
// ended; what the plugins keep for a while outlives it until Forget.
func (s *Site) Close() {
	if s.folder != nil {
		s.folder.Close()
	}
	s.installed.Close()
	s.tellAtEnd()
	s.table.Close()
	s.writeLogs()
	s.v.leave(s)
}

// leave lets a site go, and remembers what outlives its nap.
func (v *Supervisor) leave(s *Site) {
	hashes, known := s.records.Hashes()
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.open, s.cfg.Name)
	of := remembered{s.kept, v.remembered[s.cfg.Name].hashes}
	if known {
		of.hashes = hashes
	}
	v.remembered[s.cfg.Name] = of
}

// Invoker is the site's methods: those of its plugins and framework.plugins.*.
func (s *Site) Invoker() method.Invoker { return s.installed.Invoker() }

// Hooks are the handlers of its plugins, and the guard of their records.
func (s *Site) Hooks() document.Hooks { return s.installed.Hooks() }

// KV is what the plugins keep for a while.
func (s *Site) KV() *kv.Site { return s.kept }

// KVBytes is how much memory that takes, about.
func (s *Site) KVBytes() int64 { return s.kept.Bytes() }

// Log is what a plugin has logged lately, oldest line first, at most n lines.
func (s *Site) Log(plugin string, n int) []json.RawMessage { return s.logs.Lines(plugin, n) }

// Refresh takes over what the site's database says of plugins. A failure is logged: the
// next time tries again. It is called first once the site's services can be used.
func (s *Site) Refresh(ctx context.Context) {
	s.usable.Store(true)
	if err := s.installed.Sync(ctx); err != nil && ctx.Err() == nil {
		s.v.log.Error("bring the site's plugins up to date", "site", s.cfg.Name, "error", err)
	}
	if err := s.tellScheduled(ctx); err != nil && ctx.Err() == nil {
		s.v.log.Error("take in the schedules of plugins", "site", s.cfg.Name, "error", err)
	}
}

// tellAtEnd tells of schedules that a command has approved, which ends now.
func (s *Site) tellAtEnd() {
	if !s.usable.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
	defer cancel()
	if err := s.tellScheduled(ctx); err != nil {
		s.v.log.Error("take in the schedules of plugins", "site", s.cfg.Name, "error", err)
	}
}

const tellTimeout = 5 * time.Second

// tellScheduled tells the site of schedules where they are others than before.
func (s *Site) tellScheduled(ctx context.Context) error {
	if s.cfg.Scheduled == nil {
		return nil
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	now := s.table.Schedules()
	if reflect.DeepEqual(now, s.scheduled) {
		return nil
	}
	if err := s.cfg.Scheduled(ctx); err != nil {
		return err
	}
	s.scheduled = now
	return nil
}

// services are the site's; nil ones until they can be used.
func (s *Site) services() dispatch.Services {
	if !s.usable.Load() {
		return dispatch.Services{}
	}
	return s.cfg.Services()
}

// active reports whether the site is in use.
func (s *Site) active() bool { return s.usable.Load() && (s.cfg.Active == nil || s.cfg.Active()) }

// publishers are those by whom the plugins have to be signed: one of the
// server's, and one of the site's.
func (s *Site) publishers() [][]string {
	lists := [][]string{s.v.cfg.Publishers}
	if s.cfg.Publishers != nil {
		lists = append(lists, s.cfg.Publishers())
	}
	return lists
}

func (s *Site) writeLogs() {
	if s.cfg.Logged != nil && !s.v.cfg.Observer {
		s.logs.Changed(s.cfg.Logged)
	}
}
