package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"armature/core/account"
	"armature/core/egress"
	"armature/core/identity"
	"armature/core/metrics"
	"armature/core/sites/archive"
	"armature/core/sites/datafolder"
	"armature/plugins/kv"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/sandbox"
	"armature/plugins/supervisor"
	"armature/runtime/compile"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// The commands by which a server starts itself: to read a script, and to compile a module.
const (
	ReadCommand    = "read"
	CompileCommand = "compile"
)

// Guests is what runs plugins, and where they come from. It satisfies tenant.Plugins.
type Guests struct {
	*supervisor.Supervisor
	engine  *engine.Engine
	egress  *egress.Client
	Metrics *metrics.Metrics

	Layout   datafolder.Layout
	observer bool       // it looks at sites beside their server
	test     Simulation // nil unless tests run here
	log      *slog.Logger
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
	Account      *account.Account // of the process's memory; nil: nobody keeps one
	Shared       string           // folder of the plugins for all sites; empty: the one in the data folder
	MetricsToken string
	Idle         time.Duration        // of the sites, as sites.Config has it
	Replicas     []string             // URLs of servers that follow the database
	Conns        int                  // to PostgreSQL, of all sites together; 0: unbounded
	Streams      int                  // of live changes, of all sites together; 0: unbounded
	Backups      *archive.Schedule    // by schedule; nil: none are made
	Slow         func() time.Duration // SQL statements worth logging; nil: none
	observer     bool                 // by a command that ends soon
	Live         bool                 // pages of frontends load themselves again
	Test         Simulation           // of the tests these plugins run in; nil: they serve
	Cache        string               // folder of compiled code; empty: the one in the data folder
	publishers   []string             // whose plugins alone are taken; none: everybody's
	folderLimits manifest.Limits      // what plugins in folders get without being asked; zero fields: as much as they say
}

func openGuests(ctx context.Context, layout datafolder.Layout, o Options, log *slog.Logger) (*Guests, error) {
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
	cfg.CacheDir, cfg.Logger, cfg.Account = layout.Cache(), log, o.Account
	cfg.Compiler = compile.Charged(cfg.Compiler, o.Account.Work())
	cfg.ProcessorTime = o.Test == nil // a test ends where it does elsewhere
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
		engine: e, egress: egress.New(egress.Config{}), Metrics: metrics.New(o.MetricsToken),
		Layout: layout, observer: o.observer, test: o.Test, log: log,
	}
	shared := o.Shared
	if shared == "" {
		shared = layout.Plugins()
	}
	g.Supervisor, err = supervisor.New(supervisor.Config{
		Engine: e, Folder: shared, Bundles: layout.Bundles(), Read: sandbox.New(o.Account.Work(), "plugin", ReadCommand).Read,
		Publishers: o.publishers, FolderLimits: o.folderLimits, KV: o.store(), Meter: meter.New(g.Metrics.Registry),
		Logger: log, Observer: o.observer,
	})
	if err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
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
	g.Tell(g.Layout.Sites(), look)
	return g.Start(ctx)
}

// close ends everything; no site is open any more. Guests that still run are
// given until ctx ends.
func (g *Guests) close(ctx context.Context) error {
	g.Supervisor.Close()
	g.egress.Close()
	return g.engine.Close(ctx)
}
