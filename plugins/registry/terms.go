package registry

import (
	"context"

	"armature/core/document"
	"armature/core/method"
	"armature/core/scope"
)

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
	Methods   []*method.Method
	Handlers  []Handler
	Deferred  []*method.Method // that no request calls
	Schedules []method.Scheduled
	Frame     *scope.Set // what narrows whom its calls act as; nil: nothing

	SameOrigin bool // its pages are the site's own
	Hidden     bool // it has no pages
}

// Handler runs at a moment in the life of a DocType's documents.
type Handler struct {
	DocType string // or manifest.EveryDocType
	Event   string
	Run     func(context.Context, *document.Event) error
}
