package registry

import (
	"context"
	"strings"
	"sync/atomic"

	"armature/core/document"
	"armature/core/method"
	"armature/core/scope"
	"armature/plugins/manifest"
)

// Site is the plugins of one open site: the scope of its own, and what serves it as
// callers see that. It satisfies method.Invoker and document.Hooks.
type Site struct {
	*Scope
	terms Terms
	bound map[*Generation]*bound // guarded by Registry.mu
	kept  map[string]*Generation // older ones that may go on serving, by source; guarded by Registry.mu
	table atomic.Pointer[table]
}

// Open adds a site, which gets the shared plugins at once, until Close.
func (r *Registry) Open(terms Terms) *Site {
	r.mu.Lock()
	defer r.mu.Unlock()
	if terms.Platform == nil {
		terms.Platform = func(string) bool { return false }
	}
	s := &Site{terms: terms, bound: map[*Generation]*bound{}, kept: map[string]*Generation{}}
	s.Scope = &Scope{r: r, site: s}
	s.settle()
	r.sites[s] = struct{}{}
	return s
}

// Close takes the site's plugins out of service and retires those that only it had.
func (s *Site) Close() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.closed() {
		return
	}
	delete(s.r.sites, s)
	s.rebuild(nil)
	for source := range s.kept {
		s.let(source)
	}
	for _, g := range s.installed {
		g.disuse()
	}
	s.installed = nil
}

// Reconsider asks the site's Terms again about everything installed for it, after
// what they go by has changed.
func (s *Site) Reconsider() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.closed() {
		s.bound = map[*Generation]*bound{}
		s.settle()
	}
}

// Recall offers the site an older generation of something installed for it, as if it
// had been replaced just now, and takes it over.
func (s *Site) Recall(old *Generation) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	old.use()
	defer old.disuse()
	if !s.closed() && s.kept[old.Source] == nil {
		old.use()
		s.kept[old.Source] = old
		s.settle()
	}
}

// Serving returns what serves the site, by the plugins' names. The map is not to be
// changed, and the generations are not pinned.
func (s *Site) Serving() map[string]*Generation { return s.table.Load().plugins }

// Frame is what narrows whom the calls of a plugin act as; ok is false where it does
// not serve the site.
func (s *Site) Frame(plugin string) (frame *scope.Set, ok bool) {
	frame, ok = s.table.Load().frames[plugin]
	return frame, ok && frame != nil
}

// Schedules implements method.Scheduler. The slice is not to be changed.
func (s *Site) Schedules() []method.Scheduled { return s.table.Load().schedules }

// table is what a site serves at one moment. It never changes.
type table struct {
	methods  map[string]entry
	plugins  map[string]*Generation
	apps     map[string]*bound     // those that have pages
	frames   map[string]*scope.Set // by the plugins' names
	doctypes map[string]bool       // those with handlers
	handlers map[moment][]handler

	deferred  map[string]entry
	schedules []method.Scheduled
}

type entry struct {
	method *method.Method
	in     *bound
}

// moment is an event of a DocType, or of manifest.EveryDocType.
type moment struct{ doctype, event string }

type handler struct {
	run func(context.Context, *document.Event) error
	in  *Generation
}

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

// PinDeferred implements method.Deferrer.
func (s *Site) PinDeferred(path string) (*method.Method, method.Pin) {
	for {
		e, ok := s.table.Load().deferred[path]
		if !ok {
			return nil, nil
		}
		if e.in.Generation.Pin() {
			return e.method, e.in
		}
	}
}

// Handles reports whether a plugin has a handler for some event of the DocType.
func (s *Site) Handles(doctype string) bool {
	t := s.table.Load()
	return len(t.doctypes) > 0 && (t.doctypes[doctype] || t.doctypes[manifest.EveryDocType] && !s.terms.Platform(doctype))
}

// RunsPlugins reports the same: a plugin's handlers are all guest code.
func (s *Site) RunsPlugins(doctype string) bool { return s.Handles(doctype) }

// Run runs the handlers of an event in the order of their plugins' names. The
// first error ends it.
func (s *Site) Run(ctx context.Context, ev *document.Event) error {
	handlers := s.pinHandlers(ev.Doc.Type.Name, ev.Name)
	defer releaseAll(handlers)
	for _, h := range handlers {
		if err := h.run(ctx, ev); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) pinHandlers(doctype, event string) []handler {
	for {
		t := s.table.Load()
		if len(t.handlers) == 0 {
			return nil
		}
		// The list of a DocType includes the handlers of all DocTypes.
		handlers, ok := t.handlers[moment{doctype, event}]
		if !ok && !s.terms.Platform(doctype) {
			handlers = t.handlers[moment{manifest.EveryDocType, event}]
		}
		if pinAll(handlers) {
			return handlers
		}
	}
}

func pinAll(all []handler) bool {
	for i, h := range all {
		if !h.in.Pin() {
			releaseAll(all[:i])
			return false
		}
	}
	return true
}

func releaseAll(all []handler) {
	for _, h := range all {
		h.in.Release()
	}
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
