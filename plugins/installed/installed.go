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
	"time"

	"armature/core/document"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/logs"
	"armature/plugins/meter"
	"armature/plugins/registry"
)

// Config is what a Site goes by and works on.
type Config struct {
	Name     string                   // of the site
	Records  *Records                 // by which its table decides
	Services func() dispatch.Services // nil ones: the site is not open yet

	Registry *registry.Registry // of the process
	Table    *registry.Site     // what serves the site
	Shared   *loader.Sources    // of the plugins for all sites
	Own      *loader.Sources
	Folders  []string // where those plugins lie that are not stored

	// Grow admits the bytes of a bundle that is about to be kept; nil: every one is.
	Grow func(ctx context.Context, tx document.Tx, bytes int64) error

	Forget  func(plugin string) // drops what a plugin kept, once it is gone; nil: nothing
	Logs    *logs.Book          // nil: none are kept
	Tallies *meter.Tallies
	Meter   *meter.Meter

	Logger *slog.Logger
	Now    func() time.Time

	// Observer leaves the documents alone: a command that looks at a site beside
	// its server must not write down its own view of the folders.
	Observer bool
}

// Site is the plugins of one open site. Its first Sync must come after its services can
// be used.
type Site struct {
	cfg Config
	log *slog.Logger

	mu       sync.Mutex // held by whoever brings the site up to date
	closed   bool
	epoch    int64             // of the database, when the records were read last
	looked   bool              // they were read once
	trusted  [][]string        // whose signatures were asked for when it was decided last
	reported map[string]Record // what was last written down about plugins in folders
	refused  map[string]string // stored plugins that do not load: name to hash
	brought  map[string]string // whose DocTypes are in place: name to hash
	rejected map[string]string // plugins in folders that do not load: source to what its log says
}

// New makes the plugins of a site that is being opened.
func New(cfg Config) *Site {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Forget == nil {
		cfg.Forget = func(string) {}
	}
	return &Site{
		cfg: cfg, log: cfg.Logger.With("site", cfg.Name),
		reported: map[string]Record{}, refused: map[string]string{}, brought: map[string]string{},
	}
}

// Close writes down what was counted and ends the site, whose services can be used until
// this has ended.
func (s *Site) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), countAtEnd)
	s.Count(ctx)
	cancel()
	s.mu.Lock() // whoever is at it is done with the site then
	defer s.mu.Unlock()
	s.closed = true
}

// Sync makes what serves the site agree with its records, and its records with
// what lies in its folders.
func (s *Site) Sync(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sync(ctx)
}

// sync reads what is wanted, and then takes plan after plan: each is made of the world
// as the one before has left it.
func (s *Site) sync(ctx context.Context) error {
	sv := s.cfg.Services()
	if s.closed || sv.Store == nil {
		return nil
	}
	if err := s.readWanted(ctx, sv); err != nil {
		return err
	}
	for _, plan := range plans {
		for _, step := range plan(s.world()) {
			if err := step.do(ctx, s, sv); err != nil {
				return err
			}
		}
	}
	return nil
}

// plans are made in this order.
var plans = []func(*world) []step{
	planRestores, // an older version, where the file in a folder cannot be loaded
	planRecalls,  // an older version, where the one in a folder has to wait
	planStored,   // what the records have serve from the database
	planRights,   // records that were written before there was a language of rights
	planReports,  // what has become of the plugins in folders
	planRemovals, // records of plugins whose file is gone
}

// step is one thing that has to be done. An error ends all that would come after it.
type step interface {
	do(ctx context.Context, s *Site, sv dispatch.Services) error
}

// readWanted reads the records if somebody has written since they were read last, and
// has everything that goes by them decided again where they differ.
func (s *Site) readWanted(ctx context.Context, sv dispatch.Services) error {
	v, err := sv.Store.Versions(ctx)
	if err != nil {
		return err
	}
	if !s.looked || v.Epoch != s.epoch {
		if err := s.readRecords(ctx, sv); err != nil {
			return err
		}
		s.epoch, s.looked = v.Epoch, true
		clear(s.refused)
	}
	if now := s.cfg.Records.rules.Publishers(); !reflect.DeepEqual(now, s.trusted) {
		s.trusted = now
		clear(s.refused)
		s.cfg.Table.Reconsider()
	}
	return nil
}

// readRecords reads the records and has the table decide again if they differ.
func (s *Site) readRecords(ctx context.Context, sv dispatch.Services) error {
	var records map[string]*Record
	err := sv.Store.Read(ctx, func(tx document.Tx) (err error) {
		records, err = readAll(ctx, tx, sv.Documents.Schema())
		return err
	})
	if err == nil && s.cfg.Records.replace(records) {
		s.cfg.Table.Reconsider()
	}
	return err
}

// forget drops what a plugin kept that is gone.
func (s *Site) forget(plugin string) {
	s.cfg.Forget(plugin)
	delete(s.brought, plugin)
	if !s.cfg.Registry.Has(plugin) { // else another site has it still
		s.cfg.Meter.Forget(plugin)
	}
}
