// Package loader turns what is installed into what serves.
//
// A source is where a bundle comes from: a path, or a name of the caller's. A
// load reads the bundle, compiles the module, compares it with what the manifest
// claims, and swaps it in. Whatever fails, the generation from the same source
// that serves already goes on doing so, and the reason is kept for people.
package loader

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"armature/core/fault"
	"armature/plugins/bundle"
	"armature/plugins/registry"
	"armature/runtime/engine"
)

// Config is what a Loader needs.
type Config struct {
	Engine   *engine.Engine
	Registry *registry.Registry
	Logger   *slog.Logger     // nil: nothing is logged
	Now      func() time.Time // nil: time.Now

	// Read reads the bundle at a path; nil: bundle.Read, in this process.
	Read func(ctx context.Context, path string) (*bundle.Bundle, error)

	// Changed is told, without any lock held, when what is known about a source
	// has changed; nil: nobody is.
	Changed func(scope string)
}

// Loader loads plugins. It is safe for concurrent use; loads of one source wait
// for each other.
type Loader struct {
	cfg Config
	log *slog.Logger

	mu      sync.Mutex
	records map[place]*record
}

// place is a source in a scope.
type place struct{ scope, source string }

// New makes a loader.
func New(cfg Config) *Loader {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Read == nil {
		cfg.Read = func(_ context.Context, path string) (*bundle.Bundle, error) { return bundle.Read(path) }
	}
	return &Loader{cfg: cfg, log: cfg.Logger, records: map[place]*record{}}
}

// Load loads the bundle at path for a scope, a site or registry.Shared; the path
// is its source. One that serves already is left alone. The error says what is
// wrong with the plugin, and has been logged.
func (l *Loader) Load(ctx context.Context, scope, path string) error {
	return l.LoadFrom(ctx, scope, path, func() (*bundle.Bundle, error) { return l.cfg.Read(ctx, path) })
}

// LoadFrom is Load for a bundle that lies elsewhere.
func (l *Loader) LoadFrom(ctx context.Context, scope, source string, read func() (*bundle.Bundle, error)) error {
	r := l.record(place{scope, source})
	defer l.changed(scope)
	r.loading.Lock()
	defer r.loading.Unlock()
	b, err := read()
	if ctx.Err() != nil && err != nil {
		return err // the server ends; nothing is wrong with the plugin
	}
	if err != nil {
		return l.failed(r, nil, err)
	}
	if g := l.cfg.Registry.Generation(scope, source); g != nil && g.Hash == b.Hash {
		l.served(r, g)
		return nil
	}
	g, err := l.prepare(ctx, source, b)
	if ctx.Err() != nil && err != nil {
		return err // the server ends; nothing is wrong with the plugin
	}
	if err != nil {
		return l.failed(r, b, err)
	}
	if err := l.cfg.Registry.Swap(scope, g); err != nil {
		g.Close()
		return l.failed(r, b, err)
	}
	l.served(r, g)
	l.log.Info("plugin loaded", "plugin", b.Manifest.Name, "version", b.Manifest.Version, "source", source, "hash", b.Hash[:12])
	return nil
}

// Restore has an older bundle of a source serve where nothing does because the
// present one cannot be loaded. The state goes on saying why.
func (l *Loader) Restore(ctx context.Context, scope, source string, b *bundle.Bundle) error {
	r := l.record(place{scope, source})
	r.loading.Lock()
	defer r.loading.Unlock()
	l.mu.Lock()
	status, why := r.state.Status, r.state.Error
	l.mu.Unlock()
	if status != Failed {
		return nil // removed or mended meanwhile
	}
	g, err := l.prepare(ctx, source, b)
	if err != nil {
		return err
	}
	if err := l.cfg.Registry.Swap(scope, g); err != nil {
		g.Close()
		return err
	}
	l.served(r, g)
	l.mu.Lock()
	r.state.Error = why
	l.mu.Unlock()
	l.log.Warn("an older version of a plugin serves", "plugin", b.Manifest.Name, "version", b.Manifest.Version, "source", source)
	return nil
}

// Check does everything that Load does short of letting the plugin serve. The
// generation is the caller's, to look at and to Close. The error says what is
// wrong with the plugin.
func (l *Loader) Check(ctx context.Context, source string, b *bundle.Bundle) (*registry.Generation, error) {
	return l.prepare(ctx, source, b)
}

func (l *Loader) changed(scope string) {
	if l.cfg.Changed != nil {
		l.cfg.Changed(scope)
	}
}

// prepare compiles a bundle and makes a generation of it.
func (l *Loader) prepare(ctx context.Context, source string, b *bundle.Bundle) (*registry.Generation, error) {
	if err := b.Signature.Err(); err != nil {
		return nil, fault.Invalid("", "%s: %v", b.Manifest.Name, err)
	}
	module, err := l.cfg.Engine.Load(ctx, b.Module)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", b.Manifest.Name, err)
	}
	if err := Claims(b.Manifest, module); err != nil {
		module.Release()
		return nil, fmt.Errorf("load %s: %w", b.Manifest.Name, err)
	}
	return &registry.Generation{
		Manifest: b.Manifest, Module: module, Source: source, Hash: b.Hash, Publisher: b.Signature.Publisher(),
		LoadedAt: l.cfg.Now(), Close: module.Release,
	}, nil
}

// Unload retires what serves from the source and forgets it.
func (l *Loader) Unload(scope, source string) {
	r := l.record(place{scope, source})
	defer l.changed(scope)
	r.loading.Lock()
	defer r.loading.Unlock()
	if l.cfg.Registry.Remove(scope, source) {
		l.log.Info("plugin removed", "plugin", r.state.Name, "version", r.state.Version, "source", source)
	}
	// The record itself stays: somebody may be waiting to load the source again.
	l.mu.Lock()
	defer l.mu.Unlock()
	r.state = State{Scope: scope, Source: source}
}

// Forget drops what is known about the sources of a scope. Nothing of it may
// serve any more, or be loading.
func (l *Loader) Forget(scope string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.records {
		if p.scope == scope {
			delete(l.records, p)
		}
	}
}
