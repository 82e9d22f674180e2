package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"armature/core/account"
	"armature/core/fair"
	"armature/core/identity"
	"armature/core/live"
	"armature/core/ratelimit"
	"armature/core/route"
	"armature/core/trace"
)

// exchange is one request and its answer.
type exchange struct {
	server  *server
	w       response
	r       *http.Request
	ctx     context.Context
	id      string
	ids     [1]string // id, as a header holds it
	length  [1]string // the same of Content-Length
	arrived time.Time

	memory account.Call // what the exchange takes of it
	work   fair.Work    // what the exchange computes
	pass   func()       // ends its turn among the site's heavy requests; nil: it has none

	stream     *live.Stream // that it has opened; nil: none
	site       *Tenant
	release    func()
	entered    bool // the site's Requests have admitted it
	caller     *identity.Caller
	named      string              // whom a Raw that reads credentials itself has found; for the access log
	budget     *ratelimit.Decision // nil: unlimited
	span       trace.Span          // nil: the request is not followed
	charged    bool
	processing time.Duration // from the arrival to the first byte of the answer
	route      target
	raw        *route.Raw // the raw method the route leads to
	path       string     // canonical path of the method the route leads to
	app        *route.App // the plugin's pages that answer; nil: the site does

	whole         io.ReadCloser // the body before it was limited
	args          arguments
	argsRead      bool
	argsError     error
	authenticated bool
	hasSession    bool // the request is that of a session, which is still to show that a page of ours made it
}

// verb is the request's verb; HEAD is a GET whose body net/http drops.
func (x *exchange) verb() string {
	if x.r.Method == http.MethodHead {
		return http.MethodGet
	}
	return x.r.Method
}
