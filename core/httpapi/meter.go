package httpapi

import (
	"net"
	"net/http"

	"armature/core/ratelimit"
)

// enter asks whether the site may work on another request.
func (x *exchange) enter() error {
	if x.site.Requests == nil {
		return nil
	}
	err := x.site.Requests.Enter()
	x.entered = err == nil
	return err
}

// meterSite asks the site's budget, before any work.
func (x *exchange) meterSite() (err error) {
	if x.site.Limiter != nil {
		x.budget, err = x.site.Limiter.Begin(x.ctx, x.w.Header(), x.arrived)
	}
	return err
}

// meterCaller asks the budgets of the caller and of the method.
func (x *exchange) meterCaller() error {
	if x.budget == nil {
		return nil
	}
	return x.budget.Admit(x.ctx, x.w.Header(), ratelimit.Subject{
		User: x.caller.User, Client: x.caller.Client, Agent: x.path == agentsMethod, Method: x.path, Verb: x.verb(), IP: x.address(),
		Argument: x.namedArgument,
	})
}

// charge ends what meterSite began, as the answer begins. The time until then is
// the request's processing time.
func (x *exchange) charge(status int, h http.Header) {
	if x.charged {
		return
	}
	x.charged, x.processing = true, x.server.now().Sub(x.arrived)
	x.budget.End(x.ctx, h, status, x.processing)
}

// address is where the request comes from, without the port.
func (x *exchange) address() string {
	if host, _, err := net.SplitHostPort(x.r.RemoteAddr); err == nil {
		return host
	}
	return x.r.RemoteAddr
}

// namedArgument is a named argument as limits count it. Arguments that cannot be
// read end the request elsewhere.
func (x *exchange) namedArgument(name string) string {
	if x.readArguments() != nil {
		return ""
	}
	text, _ := x.args.Get(name).(string)
	return text
}
