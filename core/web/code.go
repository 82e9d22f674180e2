package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"time"

	"armature/core/auth"
	"armature/core/fault"
)

// codePath is where a login goes on whose password was right and whose second factor
// is missing.
const codePath = LoginPath + "/code"

// waitingCookie holds what such a login goes on with. The secret is in no address, no
// page and no history.
const waitingCookie = "login"

// waitingLife is longer than the secret is good for.
const waitingLife = 15 * time.Minute

// codeView is what the page shows that asks for the code.
type codeView struct {
	User      string
	Redirect  string
	App       bool            // there is an authenticator app
	Passkey   *askView        // asked for in place of the code, or made in place of the app; nil: not here
	Remember  bool            // offer to remember the browser
	Enrolment *auth.Enrolment // of an app that has to be set up first; nil: there is one
	Error     string
}

// askForCode leads from the login page to the one that asks for the code.
func (p *Pages) askForCode(w http.ResponseWriter, r *http.Request, waits *auth.Challenge, to string) error {
	set(w.Header(), r, secretCookie(r, waitingCookie), waits.Token, waitingLife)
	if to == "" {
		return p.sendOn(w, codePath)
	}
	return p.sendOn(w, codePath+"?"+url.Values{"redirect-to": {to}}.Encode())
}

// serveCode asks for the second factor of a login, or sets one up, and logs in.
func (p *Pages) serveCode(w http.ResponseWriter, r *http.Request) error {
	token := brought(r, waitingCookie)
	waits, err := p.auth.Waiting(r.Context(), token)
	if err != nil {
		return p.waitedTooLong(w, r, err)
	}
	v := codeView{User: waits.User, Redirect: localPath(r.URL.Query().Get("redirect-to"))}
	if r.Method == http.MethodPost {
		return p.submitCode(w, r, waits, v)
	}
	return p.showCode(w, r, http.StatusOK, waits, "", v)
}

// waitedTooLong begins the login anew.
func (p *Pages) waitedTooLong(w http.ResponseWriter, r *http.Request, err error) error {
	if fault.KindOf(err) != fault.Gone {
		return err
	}
	to := LoginPath
	if brought(r, waitingCookie) != "" {
		to += "?waited=1"
		set(w.Header(), r, secretCookie(r, waitingCookie), "", -time.Second)
	}
	if wish := localPath(cmp.Or(r.URL.Query().Get("redirect-to"), r.PostForm.Get("redirect-to"))); wish != "" {
		to = withArgument(to, "redirect-to", wish)
	}
	return p.sendOn(w, to)
}

func (p *Pages) submitCode(w http.ResponseWriter, r *http.Request, waits *auth.Challenge, v codeView) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	v.Redirect = localPath(r.PostForm.Get("redirect-to"))
	begun := r.PostForm.Get("enrolment")
	if !waits.Enrol {
		begun = ""
	}
	finish := auth.Finish{
		Token: waits.Token, Code: r.PostForm.Get("code"), Enrol: begun,
		Remember: r.PostForm.Get("remember") == "1", From: remote(r), Session: auth.BroughtSession(r),
	}
	if answer := r.PostForm.Get("passkey"); answer != "" {
		finish.Code, finish.Enrol = "", ""
		a := p.passkeyAnswer(r, r.PostForm.Get("question"), answer)
		if finish.Passkey = &a; waits.Enrol {
			finish.Passkey, finish.Make, finish.Title = nil, &a, r.PostForm.Get("title")
		}
	}
	login, err := p.auth.FinishLogin(r.Context(), finish)
	var again *auth.Challenge
	switch {
	case errors.As(err, &again):
		return p.askForCode(w, r, again, v.Redirect)
	case fault.KindOf(err) == fault.Gone:
		return p.waitedTooLong(w, r, err)
	case err != nil:
		text, status := shown(w, err)
		if status == 0 {
			return err
		}
		v.Error = text
		return p.showCode(w, r, status, waits, begun, v)
	}
	p.setCookies(w, r, login)
	set(w.Header(), r, secretCookie(r, waitingCookie), "", -time.Second)
	next := cmp.Or(v.Redirect, home(login.Caller))
	if len(login.Codes) > 0 {
		what := "Your app is set up, and you are logged in."
		if finish.Make != nil {
			what = "Your passkey is set up, and you are logged in."
		}
		return p.showCodes(w, what, login.Codes, next)
	}
	return p.sendOn(w, next)
}

func (p *Pages) showCode(w http.ResponseWriter, r *http.Request, status int, waits *auth.Challenge, begun string, v codeView) (err error) {
	v.Remember, v.App = !waits.Enrol && p.auth.Remembers(), waits.App
	title, ask := "Show your second factor", p.auth.AskPasskeyFactor
	if waits.App {
		title = "Enter the code"
	}
	if waits.Enrol {
		title, ask = "Set up a second factor", p.auth.AskLoginPasskey
		if v.Enrolment, err = p.auth.BeginLoginEnrolment(waits.Token, begun, p.name()); err != nil {
			return err
		}
	}
	q, err := ask(r.Context(), waits.Token, p.name(), origin(r))
	if err != nil {
		return err
	}
	v.Passkey = asks(q)
	return p.show(w, status, "code", view{Title: titled(title, v.Error), Script: q != nil, Body: v})
}

// codesView is what the page of the recovery codes shows.
type codesView struct {
	Note  string // what was done
	Codes []string
	Next  string
}

func (p *Pages) showCodes(w http.ResponseWriter, note string, codes []string, next string) error {
	return p.show(w, http.StatusOK, "codes", view{Title: "Recovery codes", Body: codesView{note, codes, next}})
}
