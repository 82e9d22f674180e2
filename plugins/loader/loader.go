// Package loader turns what is installed into what serves.
//
// A source is where a bundle comes from: a path, or a name of the caller's. What is
// known of those of one scope, a site or all sites, is an object, Sources. A load
// reads the bundle, compiles the module, compares it with what the manifest
// claims, and swaps it in. Whatever fails, the generation from the same source
// that serves already goes on doing so, and the reason is kept for people.
package loader

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"armature/core/fault"
	"armature/plugins/bundle"
	"armature/plugins/registry"
	"armature/runtime/engine"
)

// Config is what a Loader needs.
type Config struct {
	Engine *engine.Engine
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: time.Now

	// Read reads the bundle at a path for a site, or for all without a name; nil:
	// bundle.Read, in this process.
	Read func(ctx context.Context, site, path string) (*bundle.Bundle, error)

	// Changed is told, without any lock held, when what is known about a source
	// has changed; nil: nobody is.
	Changed func()
}

// Loader makes generations of bundles, for all sites of a process: the engine compiles
// the same bytes once. It is safe for concurrent use.
type Loader struct {
	cfg Config
	log *slog.Logger
}

// New makes a loader.
func New(cfg Config) *Loader {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Read == nil {
		cfg.Read = func(_ context.Context, _, path string) (*bundle.Bundle, error) { return bundle.Read(path) }
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	return &Loader{cfg: cfg, log: cfg.Logger}
}

// prepare compiles a bundle for a site, or for all, and makes a generation of it.
func (l *Loader) prepare(ctx context.Context, site, source string, b *bundle.Bundle) (*registry.Generation, error) {
	if err := b.Signature.Err(); err != nil {
		return nil, fault.Invalid("", "%s: %v", b.Manifest.Name, err)
	}
	module, err := l.cfg.Engine.LoadFor(ctx, site, b.Module)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", b.Manifest.Name, err)
	}
	if err := Claims(b.Manifest, module); err != nil {
		module.Release()
		return nil, fmt.Errorf("load %s: %w", b.Manifest.Name, err)
	}
	return &registry.Generation{
		Manifest: b.Manifest, Module: module, Source: source, Hash: b.Hash, Public: b.Public, Publisher: b.Signature.Publisher(),
		LoadedAt: l.cfg.Now(), Close: module.Release,
	}, nil
}
