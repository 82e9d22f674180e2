// Package dispatch lets guests be methods and hooks.
//
// Opening a site yields a method.Invoker and document.Hooks, in the platform's
// own terms; behind them the exports of the plugins that serve the site run as
// WebAssembly. What a guest did wrong comes back as a fault.
package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/plugins/grant"
	"armature/plugins/logs"
	"armature/plugins/manifest"
	"armature/plugins/meter"
	"armature/plugins/registry"
	"armature/plugins/replay"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// Config is what the plugins of one site need. All may be left out.
type Config struct {
	Site    string         // its name
	Logger  *slog.Logger   // what guests log, and their failed calls
	Logs    *logs.Book     // keeps the latest of it
	Meter   *meter.Meter   // of the process
	Tallies *meter.Tallies // of the site

	// Services are the site's, once it is open. Nil ones mean that it is not yet: its
	// event handlers fail, and tx manual is not acted on.
	Services func() Services
	// Setting reads a key of a plugin's configuration. A nil value means that the key is
	// not set.
	Setting func(ctx context.Context, plugin, key string) (json.RawMessage, error)
	// Grants decides what a plugin may do; nil: what it asks for and no administrator has
	// to approve.
	Grants func(g *registry.Generation) grant.Given
	// Decide says whether a generation serves the site; nil: all do.
	Decide    func(g, old *registry.Generation) registry.Decision
	KV        hostapi.KV                         // what kv_* reach; nil: they are not offered
	Fetch     func(given []string) hostapi.Fetch // makes what http_fetch reaches; nil: it is not offered
	Connected hostapi.Connected                  // what connected_request reaches; nil: it is not offered

	// Record says whether the site wants its failed calls kept, and Failed keeps one.
	Record func() bool
	Failed func(*replay.Call)

	// SiteLimits is what no call on the site may exceed; zero fields bound nothing.
	// It is asked at every call.
	SiteLimits func() manifest.Limits

	// Budget is asked before each call and told after it what the plugin has used,
	// calls of other plugins aside; nil: nobody is.
	Budget Budget

	Limits  engine.Limits  // what no plugin may exceed; zero fields leave it to the engine
	Traffic hostapi.Limits // the same for bytes; zero fields mean hostapi.DefaultLimits
}

// Budget bounds the CPU time of the plugins of a site.
type Budget interface {
	// Allowed returns a fault, and the plugin does not run, when the time is
	// used up.
	Allowed(ctx context.Context, plugin string) error
	// Charge takes down what a call has used. ctx may have ended.
	Charge(ctx context.Context, plugin string, cpu time.Duration)
}

// Services are the services of an open site.
type Services struct {
	Documents *document.Service
	Methods   *method.Service
	Store     document.Store
	Users     Users        // nil: no plugin runs as a user of its own
	Later     method.Later // keeps what after_commit hears; nil: it hears nothing
}

// Users is what plugins need of the users of a site.
type Users interface {
	// EnsurePluginUser makes sure that there is the user as whom handlers of a
	// plugin run, who has no roles at first and cannot log in, and returns the name.
	EnsurePluginUser(ctx context.Context, tx document.Tx, by *identity.Caller, plugin string) (string, error)
	// RetirePluginUser takes the user's roles away and disables it.
	RetirePluginUser(ctx context.Context, tx document.Tx, by *identity.Caller, plugin string) error
	// PluginCaller is the user as a caller; a Permission fault where there is none.
	PluginCaller(ctx context.Context, tx document.Tx, plugin string) (*identity.Caller, error)
	// RefusedPlugin writes into the log of activities that somebody tried to change
	// what a plugin may do and may not.
	RefusedPlugin(ctx context.Context, tx document.Tx, by *identity.Caller, plugin, why string) error
}

// site runs the plugins of one site.
type site struct {
	cfg Config
}

// Open adds a site to a registry, which finds the methods of its plugins and runs their
// event handlers, until it is closed.
func Open(r *registry.Registry, cfg Config) *registry.Site {
	if cfg.Services == nil {
		cfg.Services = func() Services { return Services{} }
	}
	if cfg.Grants == nil {
		cfg.Grants = func(g *registry.Generation) grant.Given {
			return grant.Decided{Operator: true}.Give(g.Manifest, Asked(g, manifest.Limits{}))
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Traffic = cfg.Traffic.Within(hostapi.MaxLimits)
	s := &site{cfg: cfg}
	return r.Open(registry.Terms{Bind: s.bind, Decide: cfg.Decide, Platform: grant.PlatformDocType})
}

// Asked lists what the plugin of a generation asks for. One in a folder of the
// server is asked about limits above most alone, a zero field of which is as much as
// a manifest may say.
func Asked(g *registry.Generation, most manifest.Limits) []string {
	asked := grant.Asked(g.Manifest, g.Module.Imports())
	if g.Stored() {
		return append(asked, grant.AskedLimits(g.Manifest.Limits)...)
	}
	return append(asked, grant.AskedOfOperator(g.Manifest.Limits, most)...)
}

// bind makes the methods and handlers of a generation for the site. Where something
// it needs was taken from it, it has no methods, and what its handlers have to be
// asked about is refused: nothing is saved without them.
func (s *site) bind(g *registry.Generation) (b registry.Binding) {
	given := s.cfg.Grants(g)
	common := s.guest(g, given)
	b.Frame, b.SameOrigin = given.Frame, given.SameOrigin
	suspended := len(given.Missing) > 0
	b.Hidden = suspended
	for _, m := range g.Manifest.Methods {
		if !suspended {
			b.Methods = append(b.Methods, newMethod(common, m))
		}
	}
	if !suspended && given.Scheduled() {
		b.Schedules = g.Manifest.Scheduled()
	}
	for _, h := range g.Manifest.Handlers() {
		run := newHandler(common, g.Manifest, h, given).run
		switch {
		case suspended && h.Optional, !suspended && !given.Heard(g.Manifest, h):
			continue
		case suspended:
			run = newHandler(common, g.Manifest, h, given).refuse
		}
		if h.Event == document.AfterCommit {
			later := newHandler(common, g.Manifest, h, given)
			b.Deferred = append(b.Deferred, later.deferred())
			b.Handlers = append(b.Handlers, registry.Handler{DocType: h.DocType, Event: document.OnChange, Run: later.later})
			continue
		}
		b.Handlers = append(b.Handlers, registry.Handler{DocType: h.DocType, Event: h.Event, Run: run})
	}
	return b
}

// guest is what all exports of a generation have in common on a site.
type guest struct {
	site    *site
	plugin  hostapi.Plugin
	version string
	hash    string
	module  *engine.Module
	foreign bool // built for Extism

	powerful bool // passes roles by, or reaches the platform
	tally    *meter.Tally
	limits   engine.Limits // of the server and the plugin
}

func (s *site) guest(g *registry.Generation, given grant.Given) *guest {
	m := g.Manifest
	limits := grant.Lowered(m.Limits, given.Limits)
	logger := s.cfg.Logger
	if s.cfg.Logs != nil {
		logger = s.cfg.Logs.Logger(m.Name, logger)
	}
	common := &guest{
		site: s, powerful: given.Powerful, version: m.Version, hash: g.Hash, module: g.Module, tally: s.cfg.Tallies.Of(m.Name), foreign: g.Module.Dialect() == abi.Extism,
		limits: g.Module.Limits(engineLimits(limits)).Min(s.cfg.Limits),
		plugin: hostapi.Plugin{
			Site: s.cfg.Site, Name: m.Name, Logger: logger, Grants: given.Grants, Frame: given.Frame,
			Limits: traffic(limits, s.cfg.Traffic), KV: s.cfg.KV, Connected: s.cfg.Connected,
		},
	}
	if s.cfg.Setting != nil {
		common.plugin.Config = func(ctx context.Context, key string) (json.RawMessage, error) {
			return s.cfg.Setting(ctx, m.Name, key)
		}
	}
	if s.cfg.Fetch != nil {
		common.plugin.Fetch = s.cfg.Fetch(given.Hosts)
	}
	return common
}
