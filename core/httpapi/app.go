package httpapi

import (
	"maps"
	"net/http"
	"strings"

	"armature/core/method"
)

// findApp asks whether the pages of a plugin answer the request. Such a request is nobody's
// who is logged in at the site: a cookie says so of a browser, and it is not the browser's
// user who has written the page. An Authorization header is the page's own.
func (x *exchange) findApp() {
	if x.site.App == nil {
		return
	}
	if x.app = x.site.App(x.r, hostname(x.r.Host)); x.app == nil {
		return
	}
	x.route, x.path = target{kind: page}, x.app.Method
	if !x.app.Cookies {
		x.r.Header.Del("Cookie")
	}
}

// answerApp answers for a plugin: with what it brings, or by its method.
func (x *exchange) answerApp() error {
	if x.app.Method == "" {
		x.app.Guard(x.w.Header())
		return x.app.Serve(&x.w, x.request(), x.call())
	}
	if err := x.readArguments(); err != nil {
		return err
	}
	x.light()
	request := x.methodRequest()
	request.Route, request.Base = x.app.Route, x.app.Base
	res, err := x.site.Methods.Run(x.ctx, method.Invocation{
		Path: x.app.Method, Verb: x.verb(), Caller: x.caller, Args: x.appArgs(), Request: request, Within: x.app.Pin,
	})
	if err != nil {
		return err
	}
	if res.Reply != nil {
		return x.sendReply(res.Reply, x.app.Guard)
	}
	x.app.Guard(x.w.Header())
	return x.sendResult("message", res)
}

// appArgs are the arguments of the request, and what stands in its path, which goes before.
func (x *exchange) appArgs() method.Args {
	args := x.args.methodArgs()
	if len(x.app.Values) == 0 {
		return args
	}
	values := maps.Clone(args.Map())
	if values == nil {
		values = map[string]any{}
	}
	for _, v := range x.app.Values {
		values[v[0]] = v[1]
	}
	return method.ArgsMap(values)
}

// allowApp adds the headers of CORS to the answer of an app whose pages have no origin: what
// they ask their own plugin for is another origin's, too. It is what anybody may have who
// brings no cookies.
func (x *exchange) allowApp() {
	if origin := x.r.Header.Get("Origin"); x.app.Opaque && origin == "null" {
		x.w.Header().Add("Vary", "Origin")
		x.allow(origin)
	}
}

// allowPage is the same for pages of plugins that ask the API. The one origin null is that of
// every sandbox there is, so it needs a token even to ask; whoever only comes from inside of
// the network that a site is in has none.
func (x *exchange) allowPage(origin string) {
	if x.route.kind == page || x.site.PageOrigin == nil || origin == "null" && !x.brings("Bearer") || !x.site.PageOrigin(x.r, origin) {
		return
	}
	x.allow(origin)
}

// brings reports whether the request says who makes it by a scheme of Authorization, or
// is about to, being a preflight.
func (x *exchange) brings(scheme string) bool {
	if x.preflight() {
		for name := range strings.SplitSeq(x.r.Header.Get("Access-Control-Request-Headers"), ",") {
			if strings.EqualFold(strings.TrimSpace(name), "Authorization") {
				return true
			}
		}
		return false
	}
	found, _, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	return strings.EqualFold(found, scheme)
}

func (x *exchange) preflight() bool {
	return x.r.Method == http.MethodOptions && x.r.Header.Get("Access-Control-Request-Method") != ""
}
