package web

import (
	"net/http"

	"armature/core/route"
)

// Raw are the methods by which a browser logs in and out and sets a password.
func (p *Pages) Raw() []*route.Raw {
	post := []string{http.MethodPost}
	return []*route.Raw{
		// What the client brought along is about to be replaced: a session that
		// has ended or a key that is wrong must not keep anybody from logging in.
		{Path: "login", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.ServeLogin)},
		{Path: "logout", Verbs: post, Serve: withoutCall(p.ServeLogout)},
		{Path: "web_logout", Verbs: post, Serve: withoutCall(p.ServeWebLogout)},
		{Path: "framework.core.doctype.user.user.reset_password", Verbs: post, NoCredentials: true, Serve: route.WithArgs(p.ServeReset)},
		{Path: "framework.core.doctype.user.user.update_password", Verbs: post, Serve: func(w http.ResponseWriter, r *http.Request, call *route.Call) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return p.ServeUpdate(w, r, call.Caller, args.Get)
		}},
	}
}

// Page returns the page at a path, or nil.
func (p *Pages) Page(path string) route.Handler {
	if verbs(path) == "" {
		return nil
	}
	return route.WithCaller(p.ServePage)
}

func withoutCall(serve func(w http.ResponseWriter, r *http.Request) error) route.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return serve(w, r) }
}
