package sites

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"armature/core/connectedapp"
	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/method"
	"armature/core/web"
)

// connectedPath is what the methods of Connected Apps begin with.
const connectedPath = "framework.integrations.doctype.connected_app.connected_app."

// connectedMethods are the whitelisted functions of Connected App (reference
// section 8).
func (t *Tenant) connectedMethods() []*method.Method {
	return []*method.Method{{
		Path:        connectedPath + "has_token",
		Tier:        method.Named,
		Verbs:       []string{http.MethodGet, http.MethodPost},
		Description: "Whether the user has a connection to the provider that is of use.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			app, err := call.Args.Need("connected_app")
			if err != nil {
				return nil, err
			}
			return t.Connected.Has(ctx, call.Caller, app, call.Args.Text("connected_user"))
		},
	}}
}

// connectedOnDocuments are the methods of a Connected App's document.
func (t *Tenant) connectedOnDocuments() []method.DocumentMethod {
	return []method.DocumentMethod{{
		DocType: connectedapp.DocType, Name: "get_openid_configuration",
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			text, err := t.Connected.Discovery(ctx, on.Caller, on.Document)
			return json.RawMessage(text), err
		},
	}, {
		DocType: connectedapp.DocType, Name: "initiate_web_application_flow",
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			origin := ""
			if on.Request != nil {
				origin = on.Request.Origin()
			}
			return t.Connected.Begin(ctx, on.Caller, on.Document, on.Args.Text("user"), on.Args.Text("success_uri"), origin)
		},
	}, {
		DocType: connectedapp.DocType, Name: "revoke_token", Verbs: []string{http.MethodPost},
		Func: func(ctx context.Context, on *method.DocumentCall) (any, error) {
			revoked, err := t.Connected.End(ctx, on.Caller, on.Document, on.Args.Text("user"))
			return map[string]any{"revoked": revoked}, err
		},
	}}
}

// serveCallback is where a provider sends a user back to. Whoever is not logged
// in any more logs in first; the way back stays open for a while.
func (t *Tenant) serveCallback(w http.ResponseWriter, r *http.Request, call *httpapi.RawCall) error {
	_, app, ok := strings.Cut(r.URL.EscapedPath(), ".callback/")
	app, err := url.PathUnescape(strings.TrimSuffix(app, "/"))
	if !ok || err != nil || app == "" || strings.Contains(app, "/") {
		return fault.Invalid("", "Invalid Parameters.")
	}
	if call.Caller.IsGuest() {
		http.Redirect(w, r, web.LoginPath+"?redirect-to="+url.QueryEscape(r.URL.RequestURI()), http.StatusFound)
		return nil
	}
	to, err := t.Connected.Finish(r.Context(), call.Caller, app, r.URL.Query())
	if err != nil {
		if f := fault.From(err); f.Kind != fault.Internal && strings.Contains(r.Header.Get("Accept"), "text/html") {
			return t.web.ServeError(w, f.Status(), f.Message, call.RequestID)
		}
		return err
	}
	http.Redirect(w, r, to, http.StatusFound)
	return nil
}
