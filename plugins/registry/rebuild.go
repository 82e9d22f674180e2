package registry

import (
	"slices"
	"strings"

	"armature/core/method"
	"armature/plugins/manifest"
)

// rebuild publishes a table of the given generations.
func (s *Site) rebuild(serving []*Generation) {
	serving = slices.SortedFunc(slices.Values(serving), func(a, b *Generation) int {
		return strings.Compare(a.Manifest.Name, b.Manifest.Name)
	})
	all := make(map[*Generation]*bound, len(serving))
	t := &table{methods: map[string]entry{}, plugins: map[string]*Generation{}}
	for _, g := range serving {
		b := s.bound[g]
		if b == nil {
			b = newBound(g, s.bind(g))
		}
		all[g] = b
		for path, m := range b.methods {
			t.methods[path] = entry{m, b}
		}
		t.plugins[g.Manifest.Name] = g
	}
	t.handles = handlers(serving)
	s.bound = all
	s.table.Store(t)
}

// handlers maps each DocType to those who want its events; those who want all
// are in every list.
func handlers(serving []*Generation) map[string][]*Generation {
	handles := map[string][]*Generation{}
	for _, g := range serving {
		for _, h := range g.Manifest.Handlers() {
			handles[h.DocType] = nil
		}
	}
	for doctype := range handles {
		for _, g := range serving {
			if wants(g, doctype) {
				handles[doctype] = append(handles[doctype], g)
			}
		}
	}
	return handles
}

func wants(g *Generation, doctype string) bool {
	for _, h := range g.Manifest.Handlers() {
		if h.DocType == doctype || h.DocType == manifest.EveryDocType {
			return true
		}
	}
	return false
}

// bound is a generation with its methods made for one site. As a method.Pin
// that is an Invoker too it keeps the calls that a call nests in its generation.
type bound struct {
	*Generation
	methods map[string]*method.Method
}

func newBound(g *Generation, methods []*method.Method) *bound {
	b := &bound{Generation: g, methods: make(map[string]*method.Method, len(methods))}
	for _, m := range methods {
		b.methods[m.Path] = m
	}
	return b
}

// Pin returns the generation's own method of that path. The caller holds a pin
// of the generation, so it is there even when it has been retired.
func (b *bound) Pin(path string) (m *method.Method, pin method.Pin, known bool) {
	if m = b.methods[path]; m != nil {
		b.again()
		return m, b, true
	}
	return nil, nil, b.exports(path)
}
