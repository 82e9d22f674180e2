package web

import (
	"encoding/json"
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
)

// loggedIn is the answer to a login.
type loggedIn struct {
	Message        string `json:"message"`
	HomePage       string `json:"home_page"`
	FullName       string `json:"full_name"`
	DashboardRoute string `json:"dashboard_route"`
}

// ServeLogin is the method login: arguments usr and pwd, of a JSON body or a
// form. Errors: those of auth.Service.Login; CSRFTokenError for a page of
// another site; BadRequest for a password in the address, which ends in logs.
func (p *Pages) ServeLogin(w http.ResponseWriter, r *http.Request, get func(name string) any) error {
	if err := p.auth.TrustedOrigin(r); err != nil {
		return err
	}
	if r.URL.Query().Has("pwd") {
		return fault.New(fault.BadRequest, "", "Send the password in the body of the request")
	}
	user, _ := get("usr").(string)
	password, _ := get("pwd").(string)
	login, err := p.auth.Login(r.Context(), attempt(r, user, password))
	if err != nil {
		return err
	}
	setCookies(w, r, login)
	answer := loggedIn{Message: "No App", HomePage: home(login.Caller), FullName: login.Caller.FullName}
	if login.Caller.Desk {
		answer.Message, answer.DashboardRoute = "Logged In", home(login.Caller)
	}
	return sendJSON(w, answer)
}

// ServeLogout is the method logout: it ends the session of the request's cookie.
// Without one there is nothing to end, and that is no error.
func (p *Pages) ServeLogout(w http.ResponseWriter, r *http.Request) error {
	if err := p.endSession(w, r); err != nil {
		return err
	}
	return sendJSON(w, struct{}{})
}

// endSession ends the session that the request acts by. A program that says by its
// header who it is ends nobody's.
func (p *Pages) endSession(w http.ResponseWriter, r *http.Request) error {
	id := auth.SessionID(r)
	if id == "" && auth.BroughtSession(r) != "" {
		return nil
	}
	if err := p.auth.Logout(r.Context(), id, remote(r)); err != nil {
		return err
	}
	ClearCookies(w.Header(), r)
	return nil
}

func attempt(r *http.Request, user, password string) auth.Attempt {
	return auth.Attempt{User: user, Password: password, From: remote(r), Session: auth.BroughtSession(r)}
}

func sendJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client is gone; what was done stays done
	return nil
}
