package host

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
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, NoCredentials: true, Serve: func(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
			args, err := call.Args()
			if err != nil {
				return err
			}
			return t.web.ServeLogin(w, r, args.Get)
		}}
	case "logout":
		return &httpapi.Raw{Verbs: []string{http.MethodPost}, Serve: func(w http.ResponseWriter, r *http.Request, _ *httpapi.RawCall) error {
			return t.web.ServeLogout(w, r)
		}}
	}
	return t.rawFile(path)
}

// page serves what lies outside /api.
func (t *Tenant) page(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
	if web.Serves(r.URL.Path) {
		return t.web.ServePage(w, r, call.Caller)
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
