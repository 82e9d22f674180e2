// Package registry holds the plugins that serve, and swaps them while they do.
//
// A generation is one loaded version of a plugin. A scope is where it is
// installed: one site, or all of them. Each site has a table, an
// immutable map from path to method behind one atomic pointer: a change makes
// new tables and publishes each with one store, so the methods of a generation
// appear and vanish together. Whoever calls pins the generation; a replaced one
// is retired, takes no new pins, and is closed when the last is given back.
package registry

import (
	"slices"
	"sync"
)

// Registry is what the sites of a process have in common: the plugins that serve
// all of them, and the lock under which what serves is changed. It is safe for
// concurrent use.
type Registry struct {
	mu     sync.Mutex
	shared *Scope
	sites  map[*Site]struct{} // that are open
}

// New makes an empty registry.
func New() *Registry {
	r := &Registry{sites: map[*Site]struct{}{}}
	r.shared = &Scope{r: r}
	return r
}

// Shared is the scope of the plugins that serve every site.
func (r *Registry) Shared() *Scope { return r.shared }

// Has reports whether a plugin is installed in any scope.
func (r *Registry) Has(plugin string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.everywhere(), func(g *Generation) bool { return g.Manifest.Name == plugin })
}

// everywhere lists what is installed in all scopes.
func (r *Registry) everywhere() []*Generation {
	all := slices.Clone(r.shared.installed)
	for s := range r.sites {
		all = append(all, s.installed...)
	}
	return all
}
