package registry

import (
	"strings"
	"sync/atomic"

	"armature/core/method"
)

// Site is the plugins of one site as callers see them.
type Site struct {
	name  string
	bind  Bind
	bound map[*Generation][]*method.Method // guarded by Registry.mu
	table atomic.Pointer[table]
}

// table is what a site serves at one moment. It never changes.
type table struct {
	methods map[string]entry
	plugins map[string]*Generation
	handles map[string][]*Generation // by DocType: who wants its events
}

type entry struct {
	method     *method.Method
	generation *Generation
}

// Name is the site's name.
func (s *Site) Name() string { return s.name }

// Pin returns the method serving path and its generation, pinned. Without one,
// known tells whether a plugin exports the path all the same: then its manifest
// does not list it.
func (s *Site) Pin(path string) (m *method.Method, g *Generation, known bool) {
	for {
		t := s.table.Load()
		e, ok := t.methods[path]
		if !ok {
			return nil, nil, t.exports(path)
		}
		if e.generation.Pin() {
			return e.method, e.generation, true
		}
		// Retired between the two reads: a newer table has been published.
	}
}

// Handles reports whether some plugin wants events of the DocType.
func (s *Site) Handles(doctype string) bool {
	t := s.table.Load()
	return len(t.handles) > 0 && (len(t.handles[doctype]) > 0 || len(t.handles["*"]) > 0)
}

// PinHandlers returns the plugins that want events of the DocType, pinned, in
// the order of their names.
func (s *Site) PinHandlers(doctype string) []*Generation {
retry:
	t := s.table.Load()
	all := t.handles[doctype]
	for i, g := range all {
		if !g.Pin() {
			for _, pinned := range all[:i] {
				pinned.Release()
			}
			goto retry
		}
	}
	return all
}

// Generations lists what serves the site, in no particular order.
func (s *Site) Generations() []*Generation {
	t := s.table.Load()
	all := make([]*Generation, 0, len(t.plugins))
	for _, g := range t.plugins {
		all = append(all, g)
	}
	return all
}

// rebuild publishes a table of the given generations.
func (s *Site) rebuild(serving []*Generation) {
	bound := make(map[*Generation][]*method.Method, len(serving))
	t := &table{methods: map[string]entry{}, plugins: map[string]*Generation{}, handles: map[string][]*Generation{}}
	for _, g := range serving {
		methods, ok := s.bound[g]
		if !ok {
			methods = s.bind(g)
		}
		bound[g] = methods
		for _, m := range methods {
			t.methods[m.Path] = entry{m, g}
		}
		t.plugins[g.Manifest.Name] = g
	}
	s.bound = bound
	s.table.Store(t)
}

// exports reports whether the plugin whose paths include path exports it.
func (t *table) exports(path string) bool {
	for name := path; ; {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return false
		}
		name = name[:dot]
		if g := t.plugins[name]; g != nil && g.Module != nil {
			_, ok := g.Module.Export(path)
			return ok
		}
	}
}
