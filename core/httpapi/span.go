package httpapi

import (
	"strconv"

	"armature/core/trace"
)

// follow begins the span of the request, in the trace that the client brought
// along if it did.
func (x *exchange) follow() {
	t := x.server.tracer
	x.ctx = trace.With(t.Incoming(x.ctx, x.r.Header), t)
	x.ctx, x.span = t.Start(x.ctx, trace.Server, x.r.Method, x.arrived)
	x.r = x.r.WithContext(x.ctx)
}

// endSpan says what the request was and what has become of it. As in the access
// log, neither the query string nor a header is told.
func (x *exchange) endSpan() {
	x.span.Set("http.request.method", x.r.Method)
	x.span.Set("http.route", x.route.kind.String())
	x.span.Set("http.response.status_code", int64(x.w.status))
	x.span.Set("url.path", x.loggedPath())
	x.span.Set("armature.site", x.siteName())
	x.span.Set("armature.request_id", x.id)
	failure := ""
	if x.w.status >= 500 || x.w.status == 0 {
		failure = strconv.Itoa(x.w.status)
	}
	x.span.End(failure)
}
