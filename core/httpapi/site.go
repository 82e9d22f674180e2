package httpapi

import (
	"context"
	"net/http"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/live"
	"armature/core/method"
	"armature/core/ratelimit"
	"armature/core/route"
)

// Sites finds the site a request is for.
type Sites interface {
	// Acquire returns the site that answers the host (lower case, without port)
	// and keeps it open until release is called. A host that no site answers is
	// a Missing fault.
	Acquire(ctx context.Context, host string, r *http.Request) (site *Tenant, release func(), err error)
}

// Requests counts the requests of a site that are worked on.
type Requests interface {
	// Enter begins one; its error refuses it.
	Enter() error
	// Leave ends one that Enter has admitted.
	Leave()
}

// Tenant is what the edge needs of one site. It is an immutable value: a site
// whose configuration changed hands out another one. Name, Documents, Store,
// Methods and Authenticate are required.
type Tenant struct {
	Name      string
	Documents *document.Service
	Store     document.Store
	Methods   *method.Service

	// Begin makes the context of a request's work; nil: the request's own.
	Begin func(ctx context.Context, r *http.Request) context.Context
	// Authenticate turns the credentials of a request into a caller; without
	// any it is identity.Anonymous. Wrong ones are an AuthenticationError. It
	// must not read the body: argument gives what the body holds, or nil where the
	// body is a stream.
	Authenticate func(ctx context.Context, r *http.Request, argument func(name string) any) (*identity.Caller, error)

	// ClearSession makes the browser forget the session of a request that was
	// refused as not authenticated; nil: nothing does.
	ClearSession func(h http.Header, r *http.Request)
	// RenewSession adds to an answer that nothing keeps what prolongs the life of
	// the session's cookie, if the request has prolonged the session; nil: nothing
	// does. ctx is the one that Begin made.
	RenewSession func(ctx context.Context, h http.Header)

	// Raw returns the raw method at a canonical path, or nil.
	Raw func(path string) *route.Raw
	// Pages serves everything outside /api; nil: nothing is there.
	Pages route.Handler
	// ErrorPage shows a failed request outside /api to a person's browser; nil: a
	// page without any style. The message may be empty.
	ErrorPage func(w http.ResponseWriter, status int, message, requestID string) error
	// App says how a request for the pages of a plugin is answered; nil: it is for none. host
	// is in lower case and without its port.
	App func(r *http.Request, host string) *route.App
	// PageOrigin reports whether pages of plugins may be on an origin; nil: none are.
	PageOrigin func(r *http.Request, origin string) bool
	// Requests bounds how many of the site's requests are worked on at a time; nil:
	// nothing does.
	Requests Requests
	// Limiter meters the site's requests; nil: unlimited.
	Limiter *ratelimit.Limiter
	// Observe makes a context in which fn is told every executed statement;
	// nil: debug=True shows nothing.
	Observe func(ctx context.Context, fn func(sql string, args []any, d time.Duration)) context.Context

	// Describe makes the OpenAPI document of what the caller may do; nil: the
	// site has none. server is the origin the client used.
	Describe func(caller *identity.Caller, server string) ([]byte, error)

	// Live tells clients what changes; nil: nobody does.
	Live *live.Service

	// AllowOrigin adds the headers of CORS that the site has for what the request
	// asks for: a method by its canonical path, or with an empty one a page; nil:
	// none but those of Origins.
	AllowOrigin func(h http.Header, r *http.Request, path string)
	// ResourceMetadata is the address at which a client whose credentials were
	// refused learns whom to ask for better ones (RFC 9728); nil or empty: none.
	ResourceMetadata func(r *http.Request) string
	// ResourceScope is the scope that it is told to ask for; nil or empty: it is told none.
	ResourceScope func(r *http.Request) string

	// HeaderAliases are what headers of requests stand for, by the canonical names under
	// which they come.
	HeaderAliases map[string]string

	MaxBody      int64    // bytes of a request body; 0: DefaultMaxBody
	MaxGuestBody int64    // the same of who has shown no credentials; 0: DefaultMaxGuestBody
	HideTraces   bool     // System Settings: allow_error_traceback is off
	Origins      []string // site setting allow_cors: origins, or "*", which lets no cookies in
}
