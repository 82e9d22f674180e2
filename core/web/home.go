package web

import (
	"net/http"
	"net/url"

	"armature/core/identity"
)

// The pages of who is logged in.
const (
	homePath   = "/app"
	logoutPath = "/logout"
)

// homeView is what the home page shows.
type homeView struct {
	FullName string
	User     string
	Changed  bool   // the password, just now
	Token    string // of the session's forms
}

// serveHome says who is logged in and what there is.
func (p *Pages) serveHome(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	token, err := p.auth.CSRFToken(r.Context(), r)
	if err != nil {
		return err
	}
	v := homeView{FullName: nameOf(caller), User: caller.User, Changed: r.URL.Query().Get("password") == "changed", Token: token}
	return p.show(w, http.StatusOK, "home", view{Title: "Your account", Body: v})
}

// serveLogout ends the session and says so on the login page.
func (p *Pages) serveLogout(w http.ResponseWriter, r *http.Request) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	return p.ServeWebLogout(w, r)
}

// ServeWebLogout is the method web_logout: logout for a browser, which ends on
// the login page.
func (p *Pages) ServeWebLogout(w http.ResponseWriter, r *http.Request) error {
	if err := p.endSession(w, r); err != nil {
		return err
	}
	return p.sendOn(w, LoginPath+"?logged-out=1")
}

// askToLogin leads to the login page, and from there back to where a guest wanted
// to go.
func (p *Pages) askToLogin(w http.ResponseWriter, r *http.Request) error {
	return p.sendOn(w, LoginPath+"?"+url.Values{"redirect-to": {r.URL.RequestURI()}}.Encode())
}
