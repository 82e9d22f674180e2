package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"armature/core/accesslog"
	"armature/core/account"
	"armature/core/fair"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/proxy"
	"armature/core/trace"
)

// Config is what the server needs.
type Config struct {
	Sites Sites
	// Proxies are those whose word counts on who made a request and how. Their
	// headers are taken off all other requests.
	Proxies proxy.Trusted
	Ready   func(ctx context.Context) error // nil: ready whenever alive
	Logger  *slog.Logger                    // nil: nothing is logged
	Access  *accesslog.Log                  // gets a line for every request; nil: none is written
	Meter   Meter                           // counts requests; nil: nobody does
	Tracer  trace.Tracer                    // follows requests; nil: nobody does
	Label   bool                            // contexts say whose request they are of (trace.Request)
	Account *account.Account                // of the memory that requests take; nil: nobody keeps one
	Now     func() time.Time                // nil: time.Now; for durations and limits
}

// Meter counts requests. The route is the kind of what the path leads to: list,
// document, method, page, openapi, live, none.
type Meter interface {
	Begin()
	End(route, verb string, status int, took time.Duration)
}

// New makes the handler of the whole server.
func New(c Config) http.Handler {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &server{sites: c.Sites, proxies: c.Proxies, ready: c.Ready, log: c.Logger, access: c.Access, meter: c.Meter, tracer: c.Tracer, label: c.Label, account: c.Account, turns: newTurns(), processors: fair.NewProcessors(runtime.GOMAXPROCS(0)), now: c.Now}
}

type server struct {
	sites   Sites
	proxies proxy.Trusted
	ready   func(ctx context.Context) error
	log     *slog.Logger
	access  *accesslog.Log
	meter   Meter
	tracer  trace.Tracer
	label   bool
	account *account.Account
	turns   *turns
	// processors has those sites that compute at the same time share what there is.
	processors *fair.Processors
	now        func() time.Time
}

// anonymous is shared: a Caller is immutable.
var anonymous = identity.Anonymous()

// ServeHTTP runs one exchange from beginning to end.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.serveHealth(w, r) {
		return
	}
	r = s.proxies.Request(r)
	x := &exchange{server: s, r: r, ctx: r.Context(), arrived: s.now(), caller: anonymous}
	x.w.ResponseWriter, x.w.x = w, x
	x.identify()
	if s.tracer != nil {
		x.follow()
	}
	if s.meter != nil {
		s.meter.Begin()
	}
	defer x.pour()
	defer x.finish()
	defer x.recover()
	if err := x.run(); err != nil {
		x.fail(err)
	}
}

// run takes the exchange through the steps every request passes.
func (x *exchange) run() error {
	x.route = parseTarget(x.r.URL.EscapedPath())
	site, release, err := x.server.sites.Acquire(x.ctx, hostname(x.r.Host), x.r)
	if err != nil {
		return err
	}
	x.site, x.release = site, release
	x.renameHeaders()
	x.findApp()
	if site.Begin != nil {
		x.ctx = site.Begin(x.ctx, x.r)
	}
	x.allowOrigin() // before all that may refuse, so that a page may read its 429
	if err := x.enter(); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	if err := x.compute(); err != nil {
		return err
	}
	x.limitBody()
	if err := x.refuseWorker(); err != nil {
		return err
	}
	if err := x.meterSite(); err != nil {
		return err
	}
	if x.r.Method == http.MethodOptions {
		x.sendEmpty(http.StatusOK)
		return nil
	}
	handle, err := x.handler()
	if err != nil {
		return err
	}
	if x.server.label {
		x.ctx = trace.WithRequest(x.ctx, trace.Request{ID: x.id, Action: cmp.Or(x.path, x.route.kind.String())})
	}
	if x.leavesCredentials() {
		x.caller = anonymous // the old form with a large body has asked already
	} else if err := x.authenticate(); err != nil {
		return err
	}
	if err := x.meterCaller(); err != nil {
		return err
	}
	return handle()
}

// authenticate finds out, once, whom the request is from.
func (x *exchange) authenticate() (err error) {
	if x.authenticated {
		return nil
	}
	caller, err := x.site.Authenticate(x.ctx, x.r, x.argument)
	if err == nil {
		x.caller, x.authenticated = caller, true
		if !caller.IsGuest() {
			x.memory.Know()
		}
	}
	return err
}

// request is the request with the context of the exchange, for what serves a
// request itself and asks that for its context.
func (x *exchange) request() *http.Request {
	if x.r.Context() != x.ctx {
		x.r = x.r.WithContext(x.ctx)
	}
	return x.r
}

// recover turns a panic into the answer of an internal error, unless the
// answer has begun; net/http's own signal to abort passes through.
func (x *exchange) recover() {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	x.fail(fault.From(fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
}

// finish gives the site back and writes the access log.
func (x *exchange) finish() {
	x.charge(x.w.status, x.w.Header()) // unless the answer has done it
	x.light()
	x.work.End()
	x.memory.End()
	if x.entered {
		x.site.Requests.Leave()
	}
	if x.app != nil {
		x.app.Release()
	}
	if x.release != nil {
		x.release()
	}
	answered := x.server.now()
	if x.server.meter != nil {
		x.server.meter.End(x.route.kind.String(), x.r.Method, x.w.status, answered.Sub(x.arrived))
	}
	if x.span != nil {
		x.endSpan()
	}
	x.logAccess(answered)
}

// hostname is the host of a request in lower case and without its port.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
