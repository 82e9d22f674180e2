package sites

import (
	"encoding/json"
	"net/http"

	"armature/core/httpapi"
	"armature/core/web"
)

// raw finds the raw methods of the site.
func (t *Tenant) raw(path string) *httpapi.Raw {
	switch path {
	case "login":
		// What the client brought along is about to be replaced: a session that
		// has ended or a key that is wrong must not keep anybody from logging in.
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, NoCredentials: true, Serve: withArgs(t.web.ServeLogin)}
	case "logout":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, Serve: func(w http.ResponseWriter, r *http.Request, _ *httpapi.RawCall) error {
			return t.web.ServeLogout(w, r)
		}}
	case "web_logout":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, Serve: func(w http.ResponseWriter, r *http.Request, _ *httpapi.RawCall) error {
			return t.web.ServeWebLogout(w, r)
		}}
	case "framework.core.doctype.user.user.reset_password":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, NoCredentials: true, Serve: withArgs(t.web.ServeReset)}
	case "framework.core.doctype.user.user.update_password":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, Serve: func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return t.web.ServeUpdate(w, r, call.Caller, args.Get)
		}}
	}
	if path == connectedPath+"callback" {
		return &httpapi.Raw{Verbs: []string{http.MethodGet}, Serve: t.serveCallback}
	}
	if raw := t.rawUpload(path); raw != nil {
		return raw
	}
	if endpoint := t.OAuth.Method(path); endpoint != nil {
		return rawOAuth(endpoint)
	}
	return t.rawFile(path)
}

// withArgs serves a raw method that reads its arguments as any method does.
func withArgs(serve func(http.ResponseWriter, *http.Request, func(string) any) error) func(http.ResponseWriter, *http.Request, *httpapi.RawCall) error {
	return func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
		args, err := call.Args()
		if err != nil {
			return err
		}
		return serve(w, r, args.Get)
	}
}

// page serves what lies outside /api.
func (t *Tenant) page(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
	if web.Serves(r.URL.Path) {
		return t.web.ServePage(w, r, call.Caller)
	}
	if endpoint := t.OAuth.Page(r.URL.Path); endpoint != nil {
		return endpoint(w, r)
	}
	return t.filePage(w, r, call)
}

// displayName is what the site is called on its pages: its setting app_name.
func (t *Tenant) displayName() string {
	var name string
	if value, ok := t.Site.Config().Get("app_name"); ok && json.Unmarshal(value, &name) == nil && name != "" {
		return name
	}
	return "Armature"
}
