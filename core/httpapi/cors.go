package httpapi

import (
	"slices"
	"strings"
)

// exposed are the headers of answers that scripts may read beside those which
// browsers always show them (Fetch standard, "CORS-safelisted response-header name").
const exposed = "ETag, Retry-After, WWW-Authenticate, X-Framework-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Used, X-Request-Id"

// isFile reports whether a path is an uploaded file's, or that of agents. The other pages ask a person,
// and what they show is for no script of another origin.
func isFile(path string) bool {
	return path == agents || strings.HasPrefix(path, "/files/") || strings.HasPrefix(path, "/private/files/")
}

// allowOrigin lets scripts of the origins that the site names read the answer
// (reference section 0.4). Any other origin gets no header, which the browser
// takes for no.
func (x *exchange) allowOrigin() {
	if x.app != nil {
		x.allowApp()
		return
	}
	origin := x.r.Header.Get("Origin")
	if origin == "" {
		return
	}
	defer x.allowPage(origin)
	if x.site.AllowOrigin != nil {
		path := ""
		if x.route.kind == command {
			path = x.site.Methods.Canonical(x.route.method)
		}
		defer x.site.AllowOrigin(x.w.Header(), x.r, path)
	}
	if len(x.site.Origins) == 0 || x.route.kind == page && !isFile(x.r.URL.Path) {
		return
	}
	h := x.w.Header()
	h.Add("Vary", "Origin")
	named := slices.Contains(x.site.Origins, origin)
	if !named && !slices.Contains(x.site.Origins, "*") {
		return
	}
	// Cookies are for origins that the site names: with them for all, any page could
	// act as whoever looks at it.
	if named {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	x.allow(origin)
}

// allow lets scripts of an origin read the answer, and in a preflight make the request.
func (x *exchange) allow(origin string) {
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	if !x.preflight() {
		h.Set("Access-Control-Expose-Headers", exposed)
		return
	}
	h.Set("Access-Control-Allow-Methods", x.r.Header.Get("Access-Control-Request-Method"))
	if asked := x.r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "86400")
}
