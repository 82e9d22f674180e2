// Package registry holds the plugins that serve, and swaps them while they do.
//
// A generation is one loaded version of a plugin. A scope is where it is
// installed: one site, or Shared for all of them. Each site has a table, an
// immutable map from path to method behind one atomic pointer: a change makes
// new tables and publishes each with one store, so the methods of a generation
// appear and vanish together. Whoever calls pins the generation; a replaced one
// is retired, takes no new pins, and is closed when the last is given back.
package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
)

// Shared is the scope of the plugins that serve every site.
const Shared = ""

// Terms are what a site makes of the plugins installed for it. Both functions are
// called with the registry's lock held: they must not come back to it.
type Terms struct {
	// Bind makes what a generation does for the site. It is called once per
	// generation, and again after Reconsider.
	Bind func(*Generation) Binding
	// Decide says whether a generation serves the site; nil: all do. old is the
	// one from the same source that could go on serving, or nil.
	Decide func(g, old *Generation) Decision
	// Platform says which DocTypes are the platform's own, of which a handler of
	// all DocTypes hears nothing; nil: none.
	Platform func(doctype string) bool
}

// Decision is what a site makes of a generation.
type Decision uint8

// The decisions.
const (
	Serve Decision = iota
	Keep           // the old one goes on serving; without one, Serve
	Off            // nothing from the source serves the site
	Await          // Off until Recall has brought the old one; what serves already goes on
)

// Binding is a generation at work for one site.
type Binding struct {
	Methods  []*method.Method
	Handlers []Handler
}

// Handler runs at a moment in the life of a DocType's documents.
type Handler struct {
	DocType string // or manifest.EveryDocType
	Event   string
	Run     func(context.Context, *document.Event) error
}

// Registry holds the plugins of a process. It is safe for concurrent use.
type Registry struct {
	mu     sync.Mutex
	scopes map[string][]*Generation // what serves, by scope
	sites  map[string]*Site
}

// New makes an empty registry.
func New() *Registry {
	return &Registry{scopes: map[string][]*Generation{}, sites: map[string]*Site{}}
}

// Open adds a site, which gets the shared plugins at once. A site is open once.
func (r *Registry) Open(name string, terms Terms) (*Site, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == Shared || r.sites[name] != nil {
		return nil, fmt.Errorf("open the plugins of site %q: the name is empty or in use", name)
	}
	if terms.Platform == nil {
		terms.Platform = func(string) bool { return false }
	}
	s := &Site{name: name, terms: terms, bound: map[*Generation]*bound{}, kept: map[string]*Generation{}}
	r.settle(s)
	r.sites[name] = s
	return s, nil
}

// Shut removes a site and retires the plugins that only it had.
func (r *Registry) Shut(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sites[name]
	if s == nil {
		return
	}
	delete(r.sites, name)
	s.rebuild(nil)
	for source := range s.kept {
		s.let(source)
	}
	for _, g := range r.scopes[name] {
		g.disuse()
	}
	delete(r.scopes, name)
}

// Reconsider asks a site's Terms again about everything installed for it, after
// what they go by has changed.
func (r *Registry) Reconsider(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sites[name]; s != nil {
		s.bound = map[*Generation]*bound{}
		r.settle(s)
	}
}

// Recall offers a site an older generation of something installed for it, as if it
// had been replaced just now, and takes it over.
func (r *Registry) Recall(name string, old *Generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old.use()
	defer old.disuse()
	if s := r.sites[name]; s != nil && s.kept[old.Source] == nil {
		old.use()
		s.kept[old.Source] = old
		r.settle(s)
	}
}

// settle decides which generations serve the site and publishes its table, and
// only then lets go of what no longer serves.
func (r *Registry) settle(s *Site) {
	var serving []*Generation
	for _, g := range r.serving(s.name) {
		if g = s.choose(g); g != nil {
			serving = append(serving, g)
		}
	}
	s.rebuild(serving)
	for source, old := range s.kept {
		if !slices.Contains(serving, old) {
			s.let(source)
		}
	}
}

// Swap makes g serve in its scope, in place of the generation from the same
// source if there is one, and takes g over. The error is a fault, and nothing
// has changed, when a plugin from another source stands in the way.
func (r *Registry) Swap(scope string, g *Generation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.collides(scope, g); err != nil {
		return err
	}
	r.change(scope, g.Source, g)
	return nil
}

// Check returns the error that Swap would.
func (r *Registry) Check(scope string, g *Generation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.collides(scope, g)
}

func (r *Registry) collides(scope string, g *Generation) error {
	for _, other := range r.beside(scope) {
		if err := collision(g, other); other.Source != g.Source && err != nil {
			return err
		}
	}
	return nil
}

// Remove retires what serves from the source and reports whether anything did.
func (r *Registry) Remove(scope, source string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.change(scope, source, nil)
}

// change replaces the generation of a source by next, which may be nil. Tables
// are published before the old one is retired: who fails to pin it then finds a
// newer table.
func (r *Registry) change(scope, source string, next *Generation) bool {
	var old *Generation
	after := make([]*Generation, 0, len(r.scopes[scope])+1)
	for _, g := range r.scopes[scope] {
		if g.Source == source {
			old = g
		} else {
			after = append(after, g)
		}
	}
	if next != nil {
		next.use()
		after = append(after, next)
	}
	r.scopes[scope] = after
	for name, s := range r.sites {
		if scope != Shared && scope != name {
			continue
		}
		if next != nil {
			s.keep(old)
		}
		r.settle(s)
	}
	if old != nil {
		old.disuse()
	}
	return old != nil
}

// Generation returns what serves from the source, or nil.
func (r *Registry) Generation(scope, source string) *Generation {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.scopes[scope] {
		if g.Source == source {
			return g
		}
	}
	return nil
}

// Serving returns what serves a site, by the plugins' names. The map is not to be
// changed, and the generations are not pinned.
func (r *Registry) Serving(site string) map[string]*Generation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sites[site]; s != nil {
		return s.table.Load().plugins
	}
	return nil
}

// serving lists what is installed for a site.
func (r *Registry) serving(site string) []*Generation {
	return slices.Concat(r.scopes[Shared], r.scopes[site])
}

// beside lists what a plugin of the scope shares some site with.
func (r *Registry) beside(scope string) []*Generation {
	if scope != Shared {
		return r.serving(scope)
	}
	var all []*Generation
	for _, gs := range r.scopes {
		all = append(all, gs...)
	}
	return all
}

// collision says why two plugins cannot serve one site: the paths below a name
// belong to one plugin.
func collision(a, b *Generation) error {
	switch an, bn := a.Manifest.Name, b.Manifest.Name; {
	case an == bn:
		return fault.New(fault.Conflict, "", "The plugin %s from %s is installed already, from %s", an, a.Source, b.Source)
	case strings.HasPrefix(an, bn+"."), strings.HasPrefix(bn, an+"."):
		return fault.New(fault.Conflict, "", "The plugin name %s (%s) collides with %s (%s): neither may begin with the other", an, a.Source, bn, b.Source)
	}
	return nil
}
