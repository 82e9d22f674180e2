// Package apps serves the pages of plugins, which are strangers to the site: what they show
// runs with nobody's session.
//
// An app is what one plugin has for browsers: the files of its folder public, and routes
// that its methods answer. It is on an origin of its own where the site has a host for
// apps, and otherwise under /apps/<plugin>/ in a sandbox, which is an origin of nobody's. Who
// opens it is known to it only by an access token that they have let it have. A plugin that
// is granted same_origin is the exception: its pages are the site's own.
package apps

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"armature/core/apps/app"
	"armature/core/fault"
	"armature/core/proxy"
	"armature/core/route"
)

// Prefix begins the paths of apps on the origin of the site.
const Prefix = "/apps/"

// Source knows the plugins that serve a site.
type Source interface {
	// App is the pages of a plugin, held until its Pin is released; nil: it has none.
	App(plugin string) *app.App
	// Apps lists the plugins that have pages, and whether theirs are the site's own.
	Apps() map[string]bool
}

// Sealer keeps what only this site can have said.
type Sealer interface {
	Seal(purpose string, text []byte) string
	Open(purpose, sealed string) ([]byte, error)
}

// Config is what a Service needs.
type Config struct {
	Source    Source
	Host      func() string // the one below which each app has a host of its own; empty: none has
	Address   func() string // of the site, for apps on other origins; empty: not known
	Authorize string        // the path of the endpoint by which a user lets an app in
	Token     string        // and of the one where it gets its token
	Secret    Sealer
	Now       func() time.Time
}

// Service serves the apps of one site.
type Service struct{ c Config }

// New makes the apps of a site.
func New(c Config) *Service { return &Service{c} }

// visit is a request for an app.
type visit struct {
	s      *Service
	app    *app.App
	r      *http.Request
	path   *url.URL // below the base
	own    bool     // the app is on an origin of its own
	base   string   // the path where the app begins, without a slash at its end
	origin string   // of the request
}

// App says how a request is answered that is for an app; nil: it is for none. host is the
// request's, in lower case and without its port.
func (s *Service) App(r *http.Request, host string) *route.App {
	if label, ok := s.below(host); ok {
		return s.ownOrigin(r, label)
	}
	rest, ok := strings.CutPrefix(r.URL.Path, Prefix)
	if !ok {
		return nil
	}
	plugin, path, slash := strings.Cut(rest, "/")
	a := s.c.Source.App(plugin)
	if a == nil {
		return nil
	}
	v := &visit{s: s, app: a, r: r, base: Prefix + plugin, origin: origin(r, r.Host)}
	elsewhere := ""
	if !a.SameOrigin {
		elsewhere = s.originOf(r, plugin)
	}
	switch {
	case elsewhere != "":
		return v.sendOn(elsewhere + "/" + escapedAfter(r.URL, v.base+"/") + query(r))
	case !slash:
		return v.sendOn(v.base + "/" + query(r))
	}
	v.path = &url.URL{Path: "/" + path, RawPath: "/" + escapedAfter(r.URL, v.base+"/")}
	return v.route()
}

// ownOrigin answers a request on a host below that for apps, where nothing else is.
func (s *Service) ownOrigin(r *http.Request, label string) *route.App {
	for plugin, same := range s.c.Source.Apps() {
		if of, ok := app.Label(plugin); !ok || of != label {
			continue
		}
		a := s.c.Source.App(plugin)
		if a == nil {
			break
		}
		v := &visit{s: s, app: a, r: r, own: true, path: r.URL, origin: origin(r, r.Host)}
		if !same {
			return v.route()
		}
		if address := s.c.Address(); address != "" {
			return v.sendOn(address + Prefix + plugin + r.URL.EscapedPath() + query(r))
		}
		a.Pin.Release()
	}
	return &route.App{OwnOrigin: true, Guard: func(http.Header) {}, Release: func() {}, Serve: func(http.ResponseWriter, *http.Request, *route.Call) error { return errMissing }}
}

// errMissing is what is said of every page that is not there.
var errMissing = fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")

// answer is what all answers of an app have in common.
func (v *visit) answer() *route.App {
	return &route.App{
		Plugin: v.app.Plugin, Pin: v.app.Pin, Release: v.app.Pin.Release, Base: v.base,
		OwnOrigin: v.own, Cookies: v.app.SameOrigin, Opaque: !v.own && !v.app.SameOrigin, Guard: v.guard,
	}
}

// serve answers with what Go code writes.
func (v *visit) serve(handler route.Handler) *route.App {
	a := v.answer()
	a.Serve = handler
	return a
}

// sendOn leads a browser to where the page is.
func (v *visit) sendOn(to string) *route.App {
	return v.serve(func(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return errMissing
		}
		w.Header().Set("Location", to)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil
	})
}

// route finds what answers: the platform, a method of the plugin, a file.
func (v *visit) route() *route.App {
	if v.misused() {
		return v.serve(func(http.ResponseWriter, *http.Request, *route.Call) error {
			return fault.Denied("What a plugin brings is no part of the site's own pages")
		})
	}
	if name, ok := strings.CutPrefix(v.path.Path, app.Reserved); ok {
		return v.serve(v.platform(name))
	}
	found, ok := v.app.Routes.Find(v.r.Method, v.path)
	switch {
	case !ok:
		return v.serve(v.file)
	case found.To != "":
		return v.sendOn(v.base + found.To)
	case found.Method == "":
		return v.serve(func(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
			w.Header().Set("Allow", found.Allow)
			return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
		})
	}
	a := v.answer()
	a.Method, a.Route, a.Values = found.Method, found.Route, found.Values
	return a
}

// misused reports whether a page of the site's own asks for what a sandboxed plugin brings
// in order to run it (Fetch Metadata): the sandbox is of pages, and a script that runs in
// another page has that one's origin. What is in a sandbox asks as another site does.
func (v *visit) misused() bool {
	if v.app.SameOrigin || v.own || v.r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return false
	}
	switch v.r.Header.Get("Sec-Fetch-Dest") {
	case "", "document", "empty", "image":
		return false
	}
	return true
}

// below reports whether a host is that of an app, and which part of it says of which.
func (s *Service) below(host string) (label string, ok bool) {
	apps := s.c.Host()
	if apps == "" {
		return "", false
	}
	label, rest, ok := strings.Cut(strings.TrimSuffix(host, "."), ".")
	return label, ok && rest == apps
}

// originOf is the origin of its own that an app has, as a request to the site would reach
// it; empty: it has none.
func (s *Service) originOf(r *http.Request, plugin string) string {
	label, ok := app.Label(plugin)
	if host := s.c.Host(); ok && host != "" {
		host = label + "." + host
		if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" {
			host = net.JoinHostPort(host, port)
		}
		return origin(r, host)
	}
	return ""
}

func origin(r *http.Request, host string) string {
	if proxy.Secure(r) {
		return "https://" + strings.ToLower(host)
	}
	return "http://" + strings.ToLower(host)
}

// Trusts reports whether an origin is one that an app may be on, null for a sandbox: its
// scripts may call the API, with a token and with nobody's cookies.
func (s *Service) Trusts(r *http.Request, from string) bool {
	for plugin, same := range s.c.Source.Apps() {
		if same {
			continue
		}
		own := s.originOf(r, plugin)
		if own == from || own == "" && from == "null" {
			return true
		}
	}
	return false
}

// Redirects are where an app is told whether a user has let it in; none: there is no app.
// They are those of the host that a request was sent to.
func (s *Service) Redirects(r *http.Request, plugin string) []string {
	same, ok := s.c.Source.Apps()[plugin]
	if !ok {
		return nil
	}
	if own := s.originOf(r, plugin); own != "" && !same {
		return []string{own + callbackPath}
	}
	return []string{origin(r, r.Host) + Prefix + plugin + callbackPath}
}

// Has reports whether a plugin has pages.
func (s *Service) Has(plugin string) bool {
	_, ok := s.c.Source.Apps()[plugin]
	return ok
}

// escapedAfter is the rest of a path, as it was written, behind a part that has no
// characters that could be written in two ways.
func escapedAfter(u *url.URL, before string) string {
	rest, ok := strings.CutPrefix(u.EscapedPath(), before)
	if !ok {
		rest = strings.TrimPrefix((&url.URL{Path: u.Path}).EscapedPath(), before)
	}
	return strings.TrimPrefix(rest, "/")
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}
