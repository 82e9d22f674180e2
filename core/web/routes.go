package web

import (
	"net/http"
	"slices"

	"armature/core/route"
)

// Raw are the methods by which a browser logs in and out, sets a password
// and a second factor.
func (p *Pages) Raw() []*route.Raw {
	post := []string{http.MethodPost}
	return append([]*route.Raw{
		// What the client brought along is about to be replaced: a session that
		// has ended or a key that is wrong must not keep anybody from logging in.
		{Path: "login", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.ServeLogin)},
		{Path: "logout", Verbs: []string{http.MethodGet, http.MethodPost}, Serve: withoutCall(p.ServeLogout)},
		{Path: "web_logout", Verbs: post, Serve: withoutCall(p.ServeWebLogout)},
		{Path: "framework.core.doctype.user.user.reset_password", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.ServeReset)},
		{Path: "framework.core.doctype.user.user.update_password", Verbs: post, Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return p.ServeUpdate(w, r, call.Caller, args.Get)
		}},
	}, slices.Concat(p.factorMethods(), p.passkeyMethods(), p.sessionMethods(), p.keyMethods())...)
}

// Routes are the pages, but for that of "/".
func (p *Pages) Routes() (all []route.Page) {
	for path := range verbs {
		if path != "/" {
			all = append(all, route.Page{Path: path, Serve: route.WithCaller(p.ServePage)})
		}
	}
	return all
}

// Home answers "/" where the site has nothing of its own there; nil for other paths.
func (p *Pages) Home(path string) route.Handler {
	if path != "/" {
		return nil
	}
	return route.WithCaller(p.ServePage)
}

func withoutCall(serve func(w http.ResponseWriter, r *http.Request) error) route.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return serve(w, r) }
}
