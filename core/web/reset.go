package web

import (
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
)

// forgotPath is where a link to reset a password is asked for, and changePath
// where who is logged in sets another one.
const (
	forgotPath = "/forgot-password"
	changePath = "/app/password"
)

// forgotView is what the page shows on which a link is asked for.
type forgotView struct {
	User  string // as typed
	Error string
	Sent  string // what was done
}

// serveForgot asks for a link to reset a password. The answer tells nothing of
// whether there is such a user.
func (p *Pages) serveForgot(w http.ResponseWriter, r *http.Request) error {
	var v forgotView
	status := http.StatusOK
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
		v.User = r.PostForm.Get("user")
		err := p.ask(r.Context(), r, v.User)
		if v.Error, status = shown(w, err); status == 0 {
			return err
		}
		if err == nil {
			v.Sent = asked
		}
	}
	return p.show(w, status, "forgot", view{Title: titled("Forgotten password", v.Error), Body: v})
}

// passwordView is what the pages show on which a password is set.
type passwordView struct {
	User   string // whose it is
	Key    string // of the link
	Old    bool   // ask for the old one
	Action string
	Token  string // of the session, where one is needed
	Min    int    // letters
	Error  string
}

// serveReset sets a password by the key of a link. The key stands in the address:
// no other site is told of it, and nothing keeps the page.
func (p *Pages) serveReset(w http.ResponseWriter, r *http.Request) error {
	// With no-referrer the form would come from the origin null.
	w.Header().Set("Referrer-Policy", "strict-origin")
	v := passwordView{Action: ResetPath, Min: auth.MinPassword}
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
		v.Key = r.PostForm.Get("key")
	} else {
		v.Key = r.URL.Query().Get("key")
	}
	user, err := p.auth.CheckReset(r.Context(), v.Key)
	if err != nil {
		return p.refuseReset(w, err)
	}
	v.User = user
	if r.Method != http.MethodPost {
		return p.showPassword(w, http.StatusOK, v)
	}
	password, err := typedTwice(r)
	if err == nil {
		_, err = p.auth.FinishReset(r.Context(), v.Key, password, remote(r))
	}
	if err == nil {
		ClearCookies(w.Header(), r)
		return p.sendOn(w, LoginPath+"?password=changed")
	}
	if fault.KindOf(err) == fault.Gone {
		return p.refuseReset(w, err)
	}
	return p.refusePassword(w, v, err)
}

// refuseReset says that a link does not work and how to get another one.
func (p *Pages) refuseReset(w http.ResponseWriter, err error) error {
	if fault.KindOf(err) != fault.Gone {
		return err
	}
	const title = "This link does not work any more"
	return p.show(w, http.StatusGone, "error", view{Title: titled(title, title), Body: errorView{
		Heading: title,
		Text:    []string{"A link to reset a password works once and for a limited time. It may also be that it was not copied as a whole."},
		Link:    forgotPath, LinkText: "Ask for another link",
	}})
}

// serveChange sets another password for who knows the old one.
func (p *Pages) serveChange(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	token, err := p.auth.CSRFToken(r.Context(), r)
	if err != nil {
		return err
	}
	v := passwordView{User: caller.User, Old: true, Action: changePath, Token: token, Min: auth.MinPassword}
	if r.Method != http.MethodPost {
		return p.showPassword(w, http.StatusOK, v)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	password, err := typedTwice(r)
	if err == nil {
		err = p.auth.ChangePassword(r.Context(), auth.Change{
			User: caller.User, Old: r.PostForm.Get("old"), New: password, From: remote(r), Session: auth.SessionID(r),
		})
	}
	if err != nil {
		return p.refusePassword(w, v, err)
	}
	return p.sendOn(w, homePath+"?password=changed")
}

// typedTwice is the new password of a form. Errors: Validation when the two
// differ, since what was meant nobody knows.
func typedTwice(r *http.Request) (string, error) {
	password := r.PostForm.Get("new")
	if password != r.PostForm.Get("again") {
		return "", fault.Invalid("", "The two new passwords are not the same")
	}
	return password, nil
}

func (p *Pages) refusePassword(w http.ResponseWriter, v passwordView, err error) error {
	text, status := shown(w, err)
	if status == 0 {
		return err
	}
	v.Error = text
	return p.showPassword(w, status, v)
}

func (p *Pages) showPassword(w http.ResponseWriter, status int, v passwordView) error {
	return p.show(w, status, "password", view{Title: titled("Set a password", v.Error), Body: v})
}
