package egress

import (
	"net/http"
	"slices"
	"time"

	"armature/core/fault"
)

// What a call may do where its Policy does not say.
const (
	DefaultMaxBody        = 10 << 20 // bytes
	DefaultMaxRequestBody = 10 << 20 // bytes
	DefaultTimeout        = 10 * time.Second
	DefaultMaxRedirects   = 5
)

// Policy is what one call may do. The zero value may do nothing.
type Policy struct {
	// Allowed are the hosts that may be asked, by a redirect too.
	Allowed Hosts
	// Private are the hosts among them which may be on this machine or on a
	// private network. Whoever runs the DNS of such a name chooses which of
	// those addresses it is, so this is for an administrator to say. Link-local
	// and metadata addresses stay forbidden.
	Private Hosts
	// Methods may be used; nil: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS. A
	// redirect that turns a POST into a GET needs both.
	Methods []string

	MaxBody        int64         // bytes of the answer's body, decoded; 0: DefaultMaxBody
	MaxRequestBody int64         // bytes; 0: DefaultMaxRequestBody
	Timeout        time.Duration // for the whole call, its redirects and the body; 0: DefaultTimeout

	// MaxRedirects is how many are followed. With 0 none is, and the redirect
	// itself is the answer.
	MaxRedirects int
}

// DefaultPolicy may ask the given hosts, with every limit at its default.
func DefaultPolicy(allowed Hosts) Policy {
	return Policy{Allowed: allowed, MaxRedirects: DefaultMaxRedirects}.withDefaults()
}

func (p Policy) withDefaults() Policy {
	if p.Methods == nil {
		p.Methods = methods
	}
	if p.MaxBody <= 0 {
		p.MaxBody = DefaultMaxBody
	}
	if p.MaxRequestBody <= 0 {
		p.MaxRequestBody = DefaultMaxRequestBody
	}
	if p.Timeout <= 0 {
		p.Timeout = DefaultTimeout
	}
	return p
}

// methods are those that ask a server for something. CONNECT asks for a tunnel,
// TRACE for our own headers: no policy allows them.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// check refuses a hop that the policy does not allow.
func (p *Policy) check(h *hop) error {
	switch {
	case !p.Allowed.has(h.target):
		return fault.Denied("%s is not a host that may be reached", h.target.url.Host)
	case !slices.Contains(methods, h.method) || !slices.Contains(p.Methods, h.method):
		return fault.Denied("%s may not be reached with this method", h.target.url.Host)
	}
	return nil
}
