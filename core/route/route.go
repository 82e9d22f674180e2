// Package route is how a service of a site says which requests it answers itself:
// raw methods under /api/method, and pages outside /api. core/httpapi leads
// requests there; neither knows the other.
package route

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
)

// Handler writes the answer to a request. An error returned before anything was
// written is answered like that of any method.
type Handler func(w http.ResponseWriter, r *http.Request, call *Call) error

// Raw is a method that writes its answer itself and has no transaction but
// those it opens. It is reached under /api/method like any other.
type Raw struct {
	Path  string   // dotted
	Verbs []string // allowed HTTP verbs; nil: all
	// For says which requests are its own; nil: all. Others run the method of the
	// same path as any other.
	For func(r *http.Request) bool
	// NoCredentials leaves the request's credentials alone: the method reads
	// them itself, as the token endpoint does with a client's Basic header, and
	// its caller is anonymous.
	NoCredentials bool
	// Streams leaves the body unlimited: the method reads it as a stream and
	// bounds it itself.
	Streams bool
	Serve   Handler
	// Fail answers with an error in a form of its own, or writes nothing and says
	// no; nil: no. The headers that go with the error are set.
	Fail func(w http.ResponseWriter, r *http.Request, e *fault.Error) bool
}

// Call is what a handler is told of its request beside the request itself.
type Call struct {
	Caller    *identity.Caller
	RequestID string
	Path      string // canonical dotted path; empty for a page
	Exchange  Exchange
}

// Exchange is the request as the edge knows it.
type Exchange interface {
	// Args reads the arguments of the request as any method gets them. It consumes
	// the body, which stays readable as the request's.
	Args() (method.Args, error)
	// Body reads the body whole, which is to be JSON of at most so many bytes. What it
	// becomes is charged, and a large one waits for its turn, as those of any method.
	// Errors: TooLarge, Unavailable, BadRequest where it cannot be read. It is asked once.
	Body(most int64) ([]byte, error)
	// Names says to the access log whom the handler found the request to be from,
	// where it reads credentials itself. Nothing else looks at it.
	Names(user string)
	// Admit asks the budget and the limits of a method that the request calls by another
	// way than its path. argument is a named argument of that call. Errors:
	// TooManyRequests. It is asked once for each request.
	Admit(path, verb string, argument func(name string) string) error
}

// Args reads the arguments of the request as any method gets them. It consumes
// the body, which stays readable as the request's.
func (c *Call) Args() (method.Args, error) { return c.Exchange.Args() }

// WithArgs serves a raw method that reads single arguments, as any method does:
// get returns one as JSON gave it, or nil.
func WithArgs(serve func(w http.ResponseWriter, r *http.Request, get func(name string) any) error) Handler {
	return func(w http.ResponseWriter, r *http.Request, call *Call) error {
		args, err := call.Args()
		if err != nil {
			return err
		}
		return serve(w, r, args.Get)
	}
}

// WithCaller serves a raw method, or a page, that needs to know who asks.
func WithCaller(serve func(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error) Handler {
	return func(w http.ResponseWriter, r *http.Request, call *Call) error { return serve(w, r, call.Caller) }
}

// Page is a page outside /api, at its path and, if that ends in a slash, below it.
type Page struct {
	Path  string
	Serve Handler
}

// App is how a request for the pages of a plugin is answered: by one of its methods, or by
// Serve.
type App struct {
	Plugin string
	Method string // the method that answers; empty: Serve does
	Serve  Handler
	Pin    method.Pin // of the version that the answer is of; nil: none
	// Release ends holding that version. Whoever got the App calls it once.
	Release func()

	Route  string      // that has matched
	Values [][2]string // names and values of its wildcards, which are arguments
	Base   string      // the path where the plugin's pages begin, without a slash at its end

	OwnOrigin bool // nothing of the platform is on the request's origin
	Opaque    bool // the pages have no origin, so that their scripts ask as null
	Cookies   bool // the request acts as whoever is logged in at the site

	Guard func(h http.Header) // sets the headers of every answer
}

// Table finds what the services of a site answer themselves. It is complete once
// made.
type Table struct {
	raw   map[string]*Raw
	found []func(path string) *Raw
	pages map[string]Handler
	rest  []func(path string) Handler
}

// Add adds the raw methods of a service. One without a path or a handler and a path
// that is taken are refused: they are mistakes of whoever wires the site.
func (t *Table) Add(methods ...*Raw) error {
	if t.raw == nil {
		t.raw = map[string]*Raw{}
	}
	for _, m := range methods {
		switch {
		case m.Path == "" || m.Serve == nil:
			return fmt.Errorf("register raw method %q: it has no path or no handler", m.Path)
		case t.raw[m.Path] != nil:
			return fmt.Errorf("register raw method %s: the path is taken", m.Path)
		}
		t.raw[m.Path] = m
	}
	return nil
}

// AddFound adds raw methods of which it is found out at each request whether they
// are there: find returns one, or nil.
func (t *Table) AddFound(find func(path string) *Raw) { t.found = append(t.found, find) }

// AddPages adds the pages of a service. A path that is taken is a mistake of whoever
// wires the site.
func (t *Table) AddPages(pages ...Page) error {
	if t.pages == nil {
		t.pages = map[string]Handler{}
	}
	for _, p := range pages {
		switch {
		case !strings.HasPrefix(p.Path, "/") || p.Serve == nil:
			return fmt.Errorf("register page %q: it has no path or no handler", p.Path)
		case t.pages[p.Path] != nil:
			return fmt.Errorf("register page %s: the path is taken", p.Path)
		}
		t.pages[p.Path] = p.Serve
	}
	return nil
}

// AddRest adds what answers the paths that are no page's and that are not Reserved:
// find returns a handler, or nil.
func (t *Table) AddRest(find func(path string) Handler) { t.rest = append(t.rest, find) }

// Paths are those of the pages, sorted.
func (t *Table) Paths() []string { return slices.Sorted(maps.Keys(t.pages)) }

// Reserved reports whether a path is the platform's: that of a page, or one below it,
// where there may be pages one day. "/" is no page's: a site may have its own.
func (t *Table) Reserved(path string) bool {
	for path = strings.TrimSuffix(path, "/"); path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if t.pages[path] != nil || t.pages[path+"/"] != nil {
			return true
		}
	}
	return false
}

// Raw returns the raw method at a canonical path, or nil.
func (t *Table) Raw(path string) *Raw {
	if m := t.raw[path]; m != nil {
		return m
	}
	for _, find := range t.found {
		if m := find(path); m != nil {
			return m
		}
	}
	return nil
}

// Page serves what lies outside /api. Errors: those of the page;
// PageDoesNotExistError where there is none.
func (t *Table) Page(w http.ResponseWriter, r *http.Request, call *Call) error {
	if page := t.page(r.URL.Path); page != nil {
		return page(w, r, call)
	}
	if !t.Reserved(r.URL.Path) {
		for _, find := range t.rest {
			if page := find(r.URL.Path); page != nil {
				return page(w, r, call)
			}
		}
	}
	return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
}

func (t *Table) page(path string) Handler {
	if page := t.pages[path]; page != nil {
		return page
	}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if page := t.pages[path[:i+1]]; page != nil {
			return page
		}
	}
	return nil
}
