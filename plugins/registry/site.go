package registry

import (
	"strings"
	"sync/atomic"

	"armature/core/method"
	"armature/plugins/manifest"
)

// Site is the plugins of one site as callers see them. It satisfies
// method.Invoker.
type Site struct {
	name  string
	bind  Bind
	bound map[*Generation]*bound // guarded by Registry.mu
	table atomic.Pointer[table]
}

// table is what a site serves at one moment. It never changes.
type table struct {
	methods map[string]entry
	plugins map[string]*Generation
	handles map[string][]*Generation // by DocType, who wants its events
}

type entry struct {
	method *method.Method
	in     *bound
}

// Name is the site's name.
func (s *Site) Name() string { return s.name }

// Pin returns the method serving path and holds its generation. Without a
// method, known tells whether a plugin exports the path all the same: then its
// manifest does not list it.
func (s *Site) Pin(path string) (m *method.Method, pin method.Pin, known bool) {
	for {
		t := s.table.Load()
		e, ok := t.methods[path]
		if !ok {
			return nil, nil, t.exports(path)
		}
		if e.in.Generation.Pin() {
			return e.method, e.in, true
		}
		// Retired between the two reads: a newer table has been published.
	}
}

// Handles reports whether some plugin wants events of the DocType.
func (s *Site) Handles(doctype string) bool {
	t := s.table.Load()
	return len(t.handles) > 0 && (t.handles[doctype] != nil || t.handles[manifest.EveryDocType] != nil)
}

// Handlers returns the plugins that want events of the DocType, in the order of
// their names and each pinned: the caller releases them.
func (s *Site) Handlers(doctype string) []*Generation {
	for {
		t := s.table.Load()
		handlers := t.handles[doctype]
		if handlers == nil {
			handlers = t.handles[manifest.EveryDocType]
		}
		if pinAll(handlers) {
			return handlers
		}
	}
}

func pinAll(all []*Generation) bool {
	for i, g := range all {
		if !g.Pin() {
			for _, pinned := range all[:i] {
				pinned.Release()
			}
			return false
		}
	}
	return true
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

// exports reports whether the plugin whose paths include path exports it.
func (t *table) exports(path string) bool {
	for name := path; ; {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return false
		}
		name = name[:dot]
		if g := t.plugins[name]; g != nil {
			return g.exports(path)
		}
	}
}
