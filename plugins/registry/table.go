package registry

import (
	"slices"
	"strings"

	"armature/core/apps/app"
	"armature/core/method"
	"armature/core/scope"
	"armature/plugins/manifest"
)

// settle decides which generations serve the site and publishes its table, and
// only then lets go of what no longer serves.
func (s *Site) settle() {
	var serving []*Generation
	for _, g := range s.all() {
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

// all lists what is installed for the site, its own and the shared.
func (s *Site) all() []*Generation { return slices.Concat(s.r.shared.installed, s.installed) }

// choose returns what serves the site where g is installed: g, an older
// generation from the same source, or nothing.
func (s *Site) choose(g *Generation) *Generation {
	decision, old := Serve, s.kept[g.Source]
	if s.terms.Decide != nil {
		decision = s.terms.Decide(g, old)
	}
	switch {
	case decision == Off, decision == Await && !s.servesNow(g):
		return nil
	case decision == Keep && old != nil:
		return old
	}
	return g
}

func (s *Site) servesNow(g *Generation) bool {
	t := s.table.Load()
	return t != nil && t.plugins[g.Manifest.Name] == g
}

// keep holds on to the generation that is being replaced until it has been
// decided what serves, unless an older one is kept already.
func (s *Site) keep(old *Generation) {
	if old != nil && s.kept[old.Source] == nil && s.bound[old] != nil {
		old.use()
		s.kept[old.Source] = old
	}
}

// let gives a kept generation up.
func (s *Site) let(source string) {
	if old := s.kept[source]; old != nil {
		delete(s.kept, source)
		old.disuse()
	}
}

// rebuild publishes a table of the given generations.
func (s *Site) rebuild(serving []*Generation) {
	serving = slices.SortedFunc(slices.Values(serving), func(a, b *Generation) int {
		return strings.Compare(a.Manifest.Name, b.Manifest.Name)
	})
	all := make(map[*Generation]*bound, len(serving))
	t := &table{apps: map[string]*bound{}, frames: map[string]*scope.Set{}, methods: map[string]entry{}, deferred: map[string]entry{}, plugins: map[string]*Generation{}, doctypes: map[string]bool{}}
	for _, g := range serving {
		b := s.bound[g]
		if b == nil {
			b = newBound(g, s.terms.Bind(g))
		}
		all[g] = b
		for path, m := range b.methods {
			t.methods[path] = entry{m, b}
		}
		for _, h := range b.handlers {
			t.doctypes[h.DocType] = true
		}
		for _, m := range b.deferred {
			t.deferred[m.Path] = entry{m, b}
		}
		t.schedules = append(t.schedules, b.schedules...)
		if b.app != nil {
			t.apps[g.Manifest.Name] = b
		}
		t.plugins[g.Manifest.Name], t.frames[g.Manifest.Name] = g, b.frame
	}
	t.handlers = s.handlersOf(serving, all)
	s.bound = all
	s.table.Store(t)
}

// handlersOf lists for every moment that somebody names who runs then.
func (s *Site) handlersOf(serving []*Generation, all map[*Generation]*bound) map[moment][]handler {
	lists := map[moment][]handler{}
	for _, b := range all {
		for _, h := range b.handlers {
			lists[moment{h.DocType, h.Event}] = nil
		}
	}
	for m := range lists {
		for _, g := range serving {
			for _, h := range all[g].handlers {
				if h.Event == m.event && (h.DocType == m.doctype || h.DocType == manifest.EveryDocType && !s.terms.Platform(m.doctype)) {
					lists[m] = append(lists[m], handler{h.Run, g})
				}
			}
		}
	}
	return lists
}

// bound is a generation with its methods made for one site. As a method.Pin
// that is an Invoker too it keeps the calls that a call nests in its generation.
type bound struct {
	*Generation
	methods  map[string]*method.Method
	handlers []Handler
	frame    *scope.Set
	app      *app.App // nil: it has no pages

	deferred  []*method.Method
	schedules []method.Scheduled
}

func newBound(g *Generation, made Binding) *bound {
	b := &bound{Generation: g, methods: make(map[string]*method.Method, len(made.Methods)), handlers: made.Handlers, frame: made.Frame, deferred: made.Deferred, schedules: made.Schedules}
	for _, m := range made.Methods {
		b.methods[m.Path] = m
	}
	if !made.Hidden && (g.Public != nil || g.Manifest.Pages() != nil) {
		b.app = &app.App{Plugin: g.Manifest.Name, Files: g.Public, Routes: g.Manifest.Pages(), SameOrigin: made.SameOrigin, Pin: b}
	}
	return b
}

// Pin returns the generation's own method of that path. The caller holds a pin
// of the generation, so it is there even when it has been retired.
func (b *bound) Pin(path string) (m *method.Method, pin method.Pin, known bool) {
	if m = b.methods[path]; m != nil {
		b.pins.Again() // a call that began in a generation may go on in it
		return m, b, true
	}
	return nil, nil, b.exports(path)
}
