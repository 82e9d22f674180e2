package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"

	"armature/core/auth"
	"armature/core/identity"
	"armature/core/social"
)

// loginView is what the login page shows.
type loginView struct {
	User     string // as typed
	Redirect string // where to go afterwards; empty: home
	Factor   bool   // a second factor is asked for, in whatever browser
	Error    string
	Note     string // what has just been done
	Now      string // who is logged in and wants to be somebody else
	Asker    *askerView
	Others   []social.Button // ways in beside the password
	Passkey  *askView        // nil: nobody here has one
	Mail     string          // where a code by mail is asked for; empty: nowhere
	SignUp   bool            // whoever is no user may become one
}

// askerView is the application for which somebody logs in.
type askerView struct {
	Name   string // empty: not known yet
	Domain string // whose it is; empty: it is on this device
	Itself bool   // nobody here has checked it
}

// asker finds out for which application the login is, and whom that means.
func (p *Pages) asker(r *http.Request, to string) (v *askerView, hint string, err error) {
	if to == "" {
		return nil, "", nil
	}
	found, err := p.applications().Asker(r, to)
	if err != nil || found == nil {
		return nil, "", err
	}
	v = &askerView{Name: plain(found.Name), Itself: found.Itself}
	if v.Domain = targetOf(found.RedirectURI).Domain; found.Host != "" {
		v.Domain = domainOf(found.Host)
	}
	if hint = found.LoginHint; len(hint) > longestUser || hint != oneLine(hint) {
		hint = "" // nobody is called so
	}
	return v, hint, nil
}

// longestUser is as much as fits into the field for the user.
const longestUser = 140

// SwitchUser is the address at which a user logs in as somebody else and comes
// back to a path of this site.
func SwitchUser(back string) string {
	return LoginPath + "?" + url.Values{"switch": {"1"}, "redirect-to": {back}}.Encode()
}

// serveLogin serves the login page and takes its form. Who is logged in already
// is sent on, unless they want to be somebody else.
func (p *Pages) serveLogin(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	if r.Method == http.MethodPost {
		return p.submitLogin(w, r)
	}
	q := r.URL.Query()
	to := localPath(q.Get("redirect-to"))
	v := loginView{Redirect: to, Factor: q.Get("second-factor") == "1"}
	switch {
	case caller.IsGuest():
		v.Note = loginNote(q, caller.Expired)
	case q.Get("switch") == "1":
		v.Now = nameOf(caller)
	case to == "":
		return p.sendOn(w, home(caller))
	default:
		return p.sendOn(w, to)
	}
	var err error
	if v.Asker, v.User, err = p.asker(r, to); err != nil {
		return err
	}
	return p.showLogin(w, r, http.StatusOK, v)
}

// loginNote says what has just been done.
func loginNote(q url.Values, expired bool) string {
	switch {
	case q.Get("logged-out") == "1":
		return "You are logged out."
	case q.Get("signed-up") == "1":
		return "Your account is made. Log in with it."
	case q.Get("waited") == "1":
		return "The login took too long. Log in again."
	case q.Get("password") == "changed":
		return "Your password is changed. Log in with the new one."
	case expired:
		return "Your session has ended. Log in again."
	}
	return ""
}

// submitLogin logs in with what was typed into the form.
func (p *Pages) submitLogin(w http.ResponseWriter, r *http.Request) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	v := loginView{User: r.PostForm.Get("usr"), Redirect: localPath(r.PostForm.Get("redirect-to")), Factor: r.PostForm.Get("second-factor") == "1"}
	if answer := r.PostForm.Get("passkey"); answer != "" {
		login, err := p.auth.LoginWithPasskey(r.Context(), p.passkeyAnswer(r, r.PostForm.Get("question"), answer), brought(r, askingCookie), remote(r), auth.BroughtSession(r))
		return p.finishLogin(w, r, v, login, err)
	}
	a := p.attempt(r, v.User, r.PostForm.Get("pwd"))
	a.Factor = v.Factor
	login, err := p.auth.Login(r.Context(), a)
	var waits *auth.Challenge
	if errors.As(err, &waits) {
		return p.askForCode(w, r, waits, v.Redirect)
	}
	return p.finishLogin(w, r, v, login, err)
}

// finishLogin lets in, or shows the page again.
func (p *Pages) finishLogin(w http.ResponseWriter, r *http.Request, v loginView, login *auth.Login, err error) error {
	if err != nil {
		var failed error
		if v.Asker, _, failed = p.asker(r, v.Redirect); failed != nil {
			return failed
		}
		return p.refuseLogin(w, r, v, err)
	}
	p.setCookies(w, r, login)
	return p.sendOn(w, cmp.Or(v.Redirect, home(login.Caller)))
}

// refuseLogin shows the page again with what was wrong.
func (p *Pages) refuseLogin(w http.ResponseWriter, r *http.Request, v loginView, err error) error {
	text, status := shown(w, err)
	if status == 0 {
		return err
	}
	v.Error = text
	return p.showLogin(w, r, status, v)
}

// showLogin says in the title that something went wrong: a reader of the screen
// hears that first.
func (p *Pages) showLogin(w http.ResponseWriter, r *http.Request, status int, v loginView) (err error) {
	v.SignUp = p.auth.SignsUp()
	if p.auth.MailsCodes() {
		v.Mail = mailAddress(v.Redirect, v.Factor)
	}
	if v.Others, err = p.social.Buttons(r.Context()); err != nil {
		return err
	}
	if err := p.askForPasskey(w, r, &v); err != nil {
		return err
	}
	return p.show(w, status, "login", view{Title: titled("Log in", v.Error), Script: v.Passkey != nil, Body: v})
}
