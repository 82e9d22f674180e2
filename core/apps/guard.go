package apps

import (
	"net/http"
	"strings"
)

// sandbox is what a page may do that has no origin (HTML, section "Sandboxing"): everything
// but be the site's, since allow-same-origin is not there. A window that it opens is one
// like any other, or nobody could log in there; what lies under /apps/ brings its own sandbox.
const sandbox = "sandbox allow-scripts allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox; "

// policy is what the pages of plugins may load: what they bring, and be in nobody's frame. A
// plugin has no way to make it wider.
const policy = "default-src 'self'; img-src 'self' data: blob:; font-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
	"base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

// guard sets the headers that go with every answer of an app.
func (v *visit) guard(h http.Header) {
	csp := policy
	if !v.own && !v.app.SameOrigin {
		csp = sandbox + csp
	}
	if v.own {
		if address := v.s.c.Address(); address != "" && !strings.ContainsAny(address, " ;,") {
			csp += "; connect-src 'self' " + address
		}
	}
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
}
