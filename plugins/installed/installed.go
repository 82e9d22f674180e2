// Package installed keeps which plugins a site has, in which version and with which
// grants, as documents of the site, and makes what serves agree with them.
//
// A record is a document of DocType Plugin. A stored plugin is one whose bundles
// are in the site's database too, as documents of DocType Plugin Version; the
// others lie in folders. Every process that serves the site looks at the
// database's epoch twice a second and takes over what another one has written.
package installed

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/logs"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/registry"
)

// Config is what a Ledger needs.
type Config struct {
	Registry *registry.Registry
	Loader   *loader.Loader
	Services func(site string) dispatch.Services // nil ones: the site is not open yet
	Folders  func(site string) []string          // where the site's plugins lie that are not stored
	Bundles  string                              // folder for copies of what serves from those; empty: none are made
	Forget   func(site, plugin string)           // what a plugin kept, once it is gone; nil: nothing
	Logs     *logs.Book                          // nil: none are kept

	// Publishers are the keys of whom plugins have to be signed by: one of each list
	// that is not empty; nil: nobody has to be.
	Publishers func(site string) [][]string
	// FolderLimits are what plugins in folders get without being asked; zero fields
	// are as much as a manifest may say.
	FolderLimits manifest.Limits

	Meter  *meter.Meter
	Logger *slog.Logger
	Now    func() time.Time
	Every  time.Duration // how often to look for what other processes have written; default 500 ms
	// Active says whether a site is in use; Run leaves the others alone, and
	// whoever uses one again calls SyncSite first. nil: all are.
	Active func(site string) bool

	// Observer leaves the documents alone: a command that looks at a site beside
	// its server must not write down its own view of the folders.
	Observer bool
}

// Ledger keeps the records of every site of a process.
type Ledger struct {
	cfg Config
	log *slog.Logger

	mu     sync.Mutex
	sites  map[string]*Site
	asleep map[string][]string // by site that was shut: the hashes its records named
	wake   chan struct{}

	copies copies
}

// New makes a Ledger without sites.
func New(cfg Config) *Ledger {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Every <= 0 {
		cfg.Every = 500 * time.Millisecond
	}
	if cfg.Active == nil {
		cfg.Active = func(string) bool { return true }
	}
	if cfg.Folders == nil {
		cfg.Folders = func(string) []string { return nil }
	}
	if cfg.Publishers == nil {
		cfg.Publishers = func(string) [][]string { return nil }
	}
	if cfg.Forget == nil {
		cfg.Forget = func(string, string) {}
	}
	return &Ledger{
		cfg: cfg, log: cfg.Logger, sites: map[string]*Site{}, asleep: map[string][]string{}, wake: make(chan struct{}, 1),
		copies: copies{dir: cfg.Bundles, now: cfg.Now},
	}
}

// Site is the plugins of one site. Its first Sync must come after the site is
// open.
type Site struct {
	l    *Ledger
	name string
	log  *slog.Logger

	records atomic.Pointer[map[string]*Record] // as last read; nil before

	mu      sync.Mutex // held by whoever brings the site up to date
	epoch   int64
	shut    bool
	looked  bool              // the records were read once
	trusted [][]string        // whose signatures were asked for when it was decided last
	told    map[string]Record // what was last written down about plugins in folders
	refused map[string]string // stored plugins that do not load: name to hash
	shipped map[string]string // whose DocTypes are in place: name to hash

	rejected map[string]string // plugins in folders that do not load: source to what its log says

	lost sync.Map // copies that cannot be loaded: hash to true
}

// Open adds a site.
func (l *Ledger) Open(name string) *Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Site{
		l: l, name: name, log: l.log.With("site", name),
		told: map[string]Record{}, refused: map[string]string{}, shipped: map[string]string{},
	}
	l.sites[name] = s
	return s
}

// Forget drops what is remembered of a site that was shut.
func (l *Ledger) Forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asleep, name)
}

// Shut removes a site, which is open until this has ended.
func (l *Ledger) Shut(name string) {
	if s := l.site(name); s != nil {
		ctx, cancel := context.WithTimeout(context.Background(), countAtEnd)
		s.count(ctx)
		cancel()
		l.cfg.Meter.DropTallies(name)
	}
	l.mu.Lock()
	s := l.sites[name]
	delete(l.sites, name)
	l.mu.Unlock()
	if s == nil {
		return
	}
	if records := s.records.Load(); records != nil {
		var hashes []string
		for _, r := range *records {
			hashes = append(hashes, r.Hash)
		}
		l.mu.Lock()
		l.asleep[name] = hashes
		l.mu.Unlock()
	}
	s.mu.Lock() // whoever is at it is done with the site then
	defer s.mu.Unlock()
	s.shut = true
}

// Wake has Run look at once.
func (l *Ledger) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run brings the sites up to date until ctx ends.
func (l *Ledger) Run(ctx context.Context) {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	clean := time.NewTicker(cleanEvery)
	defer clean.Stop()
	count := time.NewTicker(countEvery)
	defer count.Stop()
	l.clean()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-tick.C:
		case <-clean.C:
			l.clean()
		case <-count.C:
			l.Count(ctx)
		}
		l.Sync(ctx)
	}
}

// cleanEvery is how often Run looks for copies that nobody needs any more.
const cleanEvery = 24 * time.Hour

// clean removes the copies of bundles that no site's record names. What sites
// that sleep had when they were last awake counts; each is woken once a day.
func (l *Ledger) clean() {
	if l.cfg.Observer {
		return
	}
	named := map[string]bool{}
	for _, s := range l.all() {
		records := s.records.Load()
		if records == nil {
			return // not known yet
		}
		for _, r := range *records {
			named[r.Hash] = true
		}
	}
	l.mu.Lock()
	for _, hashes := range l.asleep {
		for _, hash := range hashes {
			named[hash] = true
		}
	}
	l.mu.Unlock()
	if err := l.copies.clean(named); err != nil {
		l.log.Warn("remove copies of plugins that serve no more", "error", err)
	}
}

// Sync brings every site in use up to date once. Failures are logged: the next
// time tries again.
func (l *Ledger) Sync(ctx context.Context) {
	for _, s := range l.all() {
		if l.cfg.Active(s.name) {
			s.logSync(ctx)
		}
	}
}

// SyncSite brings one site up to date once, in use or not.
func (l *Ledger) SyncSite(ctx context.Context, name string) {
	if s := l.site(name); s != nil {
		s.logSync(ctx)
	}
}

func (s *Site) logSync(ctx context.Context) {
	if err := s.Sync(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("bring the site's plugins up to date", "error", err)
	}
}

func (l *Ledger) all() []*Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*Site
	for _, s := range l.sites {
		all = append(all, s)
	}
	return all
}

func (l *Ledger) site(name string) *Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sites[name]
}

// record is the record of a plugin as last read, or nil; s may be nil, too.
func (s *Site) record(plugin string) *Record {
	if s == nil || s.records.Load() == nil {
		return nil
	}
	return (*s.records.Load())[plugin]
}

// Sync makes what serves the site agree with its records, and its records with
// what lies in its folders.
func (s *Site) Sync(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sync(ctx)
}

func (s *Site) sync(ctx context.Context) error {
	if s.shut {
		return nil
	}
	sv := s.l.cfg.Services(s.name)
	if sv.Store == nil {
		return nil
	}
	v, err := sv.Store.Versions(ctx)
	if err != nil {
		return err
	}
	if !s.looked || v.Epoch != s.epoch {
		if err := s.look(ctx, sv.Store, sv.Documents); err != nil {
			return err
		}
		s.epoch, s.looked = v.Epoch, true
		clear(s.refused)
	}
	if now := s.l.cfg.Publishers(s.name); !reflect.DeepEqual(now, s.trusted) {
		s.trusted = now
		clear(s.refused)
		s.l.cfg.Registry.Reconsider(s.name)
	}
	s.restore(ctx)
	s.recall(ctx)
	s.loadStored(ctx, sv)
	if err := s.adopt(ctx, sv); err != nil {
		return err
	}
	return s.tell(ctx, sv)
}

// look reads the records and has everything that goes by them decided again
// where they differ.
func (s *Site) look(ctx context.Context, store document.Store, documents *document.Service) error {
	var records map[string]*Record
	err := store.Read(ctx, func(tx document.Tx) (err error) {
		records, err = readAll(ctx, tx, documents.Schema())
		return err
	})
	if err != nil {
		return err
	}
	if old := s.records.Swap(&records); old == nil || !reflect.DeepEqual(*old, records) {
		s.l.cfg.Registry.Reconsider(s.name)
	}
	return nil
}
