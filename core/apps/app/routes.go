package app

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// MaxRoutes is how many routes a plugin may have.
const MaxRoutes = 500

// verbs are those of routes. A GET is one for HEAD, too.
var verbs = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// Routes find the method that answers a request. They are the patterns of Go's
// http.ServeMux, which says what a pattern matches and which of two goes first.
type Routes struct {
	mux *http.ServeMux
}

// RouteError is what is wrong with one route.
type RouteError struct{ Route, Text string }

// Error names the route and says what is wrong with it.
func (e *RouteError) Error() string { return fmt.Sprintf("%q: %s", e.Route, e.Text) }

// form is that of a route: a verb and a path.
var form = regexp.MustCompile(`^(` + strings.Join(verbs, "|") + `) (/[^\s?#]*)$`)

// Verb is the verb of a route, of which Parse has taken the form for good.
func Verb(route string) string {
	verb, _, _ := strings.Cut(route, " ")
	return verb
}

// Parse reads routes, such as "GET /shop/{slug}", and the methods that answer. The error is
// a *RouteError.
func Parse(routes map[string]string) (*Routes, error) {
	r := &Routes{mux: http.NewServeMux()}
	var before []string
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		match := form.FindStringSubmatch(route)
		switch {
		case len(before) >= MaxRoutes:
			return nil, &RouteError{route, fmt.Sprintf("there are more than %d routes", MaxRoutes)}
		case match == nil:
			return nil, &RouteError{route, "expected one of " + strings.Join(verbs, ", ") + ", a space and a path, such as GET /shop/{slug}"}
		case len(route) > 500:
			return nil, &RouteError{route, "it is longer than 500 characters"}
		case strings.HasPrefix(match[2]+"/", Reserved):
			return nil, &RouteError{route, "what begins with " + Reserved + " is the platform's"}
		}
		if why := r.add(route, routes[route]); why != "" {
			return nil, &RouteError{route, with(before, route, why)}
		}
		before = append(before, route)
	}
	return r, nil
}

// add adds a route; not empty: why it cannot be one. The multiplexer panics then, with the
// place in this file where it was added.
func (r *Routes) add(route, method string) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprint(p)
		}
	}()
	r.mux.HandleFunc(route, func(w http.ResponseWriter, q *http.Request) {
		m := w.(*match)
		m.found.Method, m.found.Route = method, route
		for _, name := range names(route) {
			m.found.Values = append(m.found.Values, [2]string{name, q.PathValue(name)})
		}
	})
	return ""
}

// with says which route another stands in the way of.
func with(before []string, route, why string) string {
	for _, other := range before {
		pair := &Routes{mux: http.NewServeMux()}
		if pair.add(other, "") == "" && pair.add(route, "") != "" {
			return fmt.Sprintf("some requests are those of %q as well, and neither says more precisely which", other)
		}
	}
	if _, reason, ok := strings.Cut(why, route+`": `); ok {
		return "it is no pattern: " + reason
	}
	return "it is no pattern such as GET /shop/{slug} or GET /files/{path...}"
}

var wildcard = regexp.MustCompile(`\{([^}.$]+)(\.\.\.)?\}`)

// names are those of the wildcards of a route.
func names(route string) (all []string) {
	for _, m := range wildcard.FindAllStringSubmatch(route, -1) {
		all = append(all, m[1])
	}
	return all
}

// Found is what answers a request.
type Found struct {
	Method string      // that a route names
	Route  string      // that has matched
	Values [][2]string // names and values of its wildcards
	// Allow are the verbs of the routes of this path, where none has the request's; and
	// To the path in its one spelling, where it came in another.
	Allow, To string
}

// Find returns what answers a request for a path, given decoded and as it was written;
// ok is false where no route does.
func (r *Routes) Find(verb string, path *url.URL) (found Found, ok bool) {
	if r == nil {
		return Found{}, false
	}
	m := &match{header: http.Header{}}
	r.mux.ServeHTTP(m, &http.Request{Method: verb, URL: path, Host: "app"})
	switch {
	case m.found.Method != "":
		return m.found, true
	case m.status == http.StatusMethodNotAllowed:
		return Found{Allow: m.header.Get("Allow")}, true
	case m.status/100 == 3:
		return Found{To: m.header.Get("Location")}, true
	}
	return Found{}, false
}

// match is told by the multiplexer what it has found.
type match struct {
	found  Found
	header http.Header
	status int
}

func (m *match) Header() http.Header       { return m.header }
func (m *match) WriteHeader(status int)    { m.status = status }
func (*match) Write(b []byte) (int, error) { return len(b), nil }
