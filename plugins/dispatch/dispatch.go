// Package dispatch lets guests be methods and hooks.
//
// Opening a site yields a method.Invoker and document.Hooks in the platform's
// own terms; behind them the exports of the plugins that serve the site run as
// WebAssembly. What a guest did wrong comes back as a fault.
package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"armature/core/document"
	"armature/core/method"
	"armature/plugins/manifest"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// Config is what the plugins of all sites need.
type Config struct {
	Registry *registry.Registry
	Logger   *slog.Logger // what guests log; nil: nothing

	// Services are the services of an open site, for the handlers of document
	// events; nil ones mean that the site is not open yet.
	Services func(site string) (*document.Service, *method.Service)
	// Setting reads a key of a plugin's configuration on a site; nil: there is
	// none. A nil value means that the key is not set.
	Setting func(ctx context.Context, site, plugin, key string) (json.RawMessage, error)
	// Grants decides what a plugin may do on a site; nil: what it asks for,
	// elevated access excepted.
	Grants func(site string, m *manifest.Manifest) hostapi.Grants
	// Zone is the time zone of a site, for the values of event handlers; nil: UTC.
	Zone func(site string) *time.Location

	Limits  engine.Limits  // what no plugin may exceed; zero fields leave it to the engine
	Traffic hostapi.Limits // the same for bytes; zero fields mean hostapi.DefaultLimits
}

// Plugins runs the plugins of every site.
type Plugins struct {
	cfg Config
}

// New makes the plugins of a process.
func New(cfg Config) *Plugins {
	cfg.Traffic = cfg.Traffic.Within(hostapi.MaxLimits)
	return &Plugins{cfg: cfg}
}

// Open adds a site. The invoker finds the methods of its plugins, the hooks run
// their event handlers.
func (p *Plugins) Open(site string) (method.Invoker, document.Hooks, error) {
	terms := registry.Terms{Bind: func(g *registry.Generation) registry.Binding { return p.bind(site, g) }}
	if p.cfg.Decide != nil {
		terms.Decide = func(g *registry.Generation) registry.Decision { return p.cfg.Decide(site, g) }
	}
	s, err := p.cfg.Registry.Open(site, terms)
	if err != nil {
		return nil, nil, err
	}
	return s, s, nil
}

// Shut removes a site.
func (p *Plugins) Shut(site string) { p.cfg.Registry.Shut(site) }

// bind makes the methods and handlers of a generation for a site.
func (p *Plugins) bind(site string, g *registry.Generation) (b registry.Binding) {
	common := p.guest(site, g)
	for _, m := range g.Manifest.Methods {
		b.Methods = append(b.Methods, newMethod(common, m))
	}
	for _, h := range g.Manifest.Handlers() {
		b.Handlers = append(b.Handlers, registry.Handler{
			DocType: h.DocType, Event: h.Event, Run: (&handler{guest: common, plugins: p, export: h.Export}).run,
		})
	}
	return b
}

// guest is what all exports of a generation have in common on a site.
type guest struct {
	plugin hostapi.Plugin
	module *engine.Module
	limits engine.Limits
}

func (p *Plugins) guest(site string, g *registry.Generation) *guest {
	m := g.Manifest
	common := &guest{module: g.Module, limits: limits(m.Limits).Min(p.cfg.Limits)}
	common.plugin = hostapi.Plugin{
		Site: site, Name: m.Name, Logger: p.cfg.Logger,
		Grants: p.grants(site, m),
		Limits: traffic(m.Limits, p.cfg.Traffic),
	}
	if p.cfg.Setting != nil {
		common.plugin.Config = func(ctx context.Context, key string) (json.RawMessage, error) {
			return p.cfg.Setting(ctx, site, m.Name, key)
		}
	}
	return common
}

func (p *Plugins) grants(site string, m *manifest.Manifest) hostapi.Grants {
	if p.cfg.Grants != nil {
		return p.cfg.Grants(site, m)
	}
	return hostapi.Grant(m.Grants...)
}
