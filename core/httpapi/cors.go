package httpapi

import (
	"net/http"
	"slices"
)

// allowOrigin lets scripts of the origins that the site names read the answer
// (reference section 0.4). Any other origin gets no header, which the browser
// takes for no.
func (x *exchange) allowOrigin() {
	origin := x.r.Header.Get("Origin")
	if origin == "" {
		return
	}
	if x.site.AllowOrigin != nil {
		path := ""
		if x.route.kind == command {
			path = x.site.Methods.Canonical(x.route.method)
		}
		defer x.site.AllowOrigin(x.w.Header(), x.r, path)
	}
	if len(x.site.Origins) == 0 {
		return
	}
	h := x.w.Header()
	h.Add("Vary", "Origin")
	named := slices.Contains(x.site.Origins, origin)
	if !named && !slices.Contains(x.site.Origins, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	// Cookies are for origins that the site names: with them for all, any page could
	// act as whoever looks at it.
	if named {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	if x.r.Method != http.MethodOptions || x.r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", x.r.Header.Get("Access-Control-Request-Method"))
	if asked := x.r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "86400")
}
