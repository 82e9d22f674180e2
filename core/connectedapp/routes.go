package connectedapp

import (
	"net/http"
	"net/url"
	"strings"

	"armature/core/fault"
	"armature/core/route"
)

// Raw is where a provider sends a user back to.
func (s *Service) Raw() []*route.Raw {
	return []*route.Raw{{Path: prefix + "callback", Verbs: []string{http.MethodGet}, Serve: s.serveCallback}}
}

// serveCallback ends a flow. Whoever is not logged
// in any more logs in first; the way back stays open for a while.
func (s *Service) serveCallback(w http.ResponseWriter, r *http.Request, call *route.Call) error {
	_, app, ok := strings.Cut(r.URL.EscapedPath(), ".callback/")
	app, err := url.PathUnescape(strings.TrimSuffix(app, "/"))
	if !ok || err != nil || app == "" || strings.Contains(app, "/") {
		return fault.Invalid("", "Invalid Parameters.")
	}
	if call.Caller.IsGuest() {
		http.Redirect(w, r, s.login+"?redirect-to="+url.QueryEscape(r.URL.RequestURI()), http.StatusFound)
		return nil
	}
	to, err := s.Finish(r.Context(), call.Caller, app, r.URL.Query())
	if err != nil {
		if f := fault.From(err); f.Kind != fault.Internal && strings.Contains(r.Header.Get("Accept"), "text/html") {
			return s.errorPage(w, f.Status(), f.Message, call.RequestID)
		}
		return err
	}
	http.Redirect(w, r, to, http.StatusFound)
	return nil
}
