package loader

import (
	"context"
	"sync"

	"armature/plugins/bundle"
	"armature/plugins/registry"
)

// Sources is what is known about the sources of one scope, and the way from each into
// service. It is safe for concurrent use; loads of one source wait for each other.
type Sources struct {
	l     *Loader
	scope *registry.Scope
	site  string

	mu      sync.Mutex
	records map[string]*record // by source
}

// Open begins to load for a scope, that of the named site or, without a name, of all:
// compiling takes turns by site. There is nothing to close: what serves is the scope's.
func (l *Loader) Open(scope *registry.Scope, site string) *Sources {
	return &Sources{l: l, scope: scope, site: site, records: map[string]*record{}}
}

// Check does everything that Load does short of letting the plugin serve. The
// generation is the caller's, to look at and to Close. The error says what is
// wrong with the plugin.
func (s *Sources) Check(ctx context.Context, source string, b *bundle.Bundle) (*registry.Generation, error) {
	return s.l.prepare(ctx, s.site, source, b)
}

// Load loads the bundle at path, which is its source. One that serves already is left
// alone. The error says what is wrong with the plugin, and has been logged.
func (s *Sources) Load(ctx context.Context, path string) error {
	return s.LoadFrom(ctx, path, func() (*bundle.Bundle, error) { return s.l.cfg.Read(ctx, s.site, path) })
}

// LoadFrom is Load for a bundle that lies elsewhere.
func (s *Sources) LoadFrom(ctx context.Context, source string, read func() (*bundle.Bundle, error)) error {
	r := s.record(source)
	defer s.l.cfg.Changed()
	r.loading.Lock()
	defer r.loading.Unlock()
	b, err := read()
	if ctx.Err() != nil && err != nil {
		return err // the server ends; nothing is wrong with the plugin
	}
	if err != nil {
		return s.failed(r, nil, err)
	}
	if g := s.scope.Generation(source); g != nil && g.Hash == b.Hash {
		s.served(r, g)
		return nil
	}
	g, err := s.swap(ctx, source, b)
	if ctx.Err() != nil && err != nil {
		return err // the server ends; nothing is wrong with the plugin
	}
	if err != nil {
		return s.failed(r, b, err)
	}
	s.served(r, g)
	s.l.log.Info("plugin loaded", "plugin", b.Manifest.Name, "version", b.Manifest.Version, "source", source, "hash", b.Hash[:12])
	return nil
}

// swap makes a generation of a bundle and has it serve.
func (s *Sources) swap(ctx context.Context, source string, b *bundle.Bundle) (*registry.Generation, error) {
	g, err := s.l.prepare(ctx, s.site, source, b)
	if err != nil {
		return nil, err
	}
	if err := s.scope.Swap(g); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Restore has an older bundle of a source serve where nothing does because the
// present one cannot be loaded. The state goes on saying why.
func (s *Sources) Restore(ctx context.Context, source string, b *bundle.Bundle) error {
	r := s.record(source)
	r.loading.Lock()
	defer r.loading.Unlock()
	s.mu.Lock()
	status, why := r.state.Status, r.state.Error
	s.mu.Unlock()
	if status != Failed {
		return nil // removed or mended meanwhile
	}
	g, err := s.swap(ctx, source, b)
	if err != nil {
		return err
	}
	s.served(r, g)
	s.mu.Lock()
	r.state.Error = why
	s.mu.Unlock()
	s.l.log.Warn("an older version of a plugin serves", "plugin", b.Manifest.Name, "version", b.Manifest.Version, "source", source)
	return nil
}

// Unload retires what serves from the source and forgets it.
func (s *Sources) Unload(source string) {
	r := s.record(source)
	defer s.l.cfg.Changed()
	r.loading.Lock()
	defer r.loading.Unlock()
	if s.scope.Remove(source) {
		s.l.log.Info("plugin removed", "plugin", r.state.Name, "version", r.state.Version, "source", source)
	}
	// The record itself stays: somebody may be waiting to load the source again.
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state = State{Source: source}
}

// Generation is what serves from a source, or nil.
func (s *Sources) Generation(source string) *registry.Generation { return s.scope.Generation(source) }
