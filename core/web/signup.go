package web

import (
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
)

const (
	// signUpPath is where somebody asks for a letter by which they become a user.
	signUpPath = "/signup"
	// NewcomerPath is where such a letter leads; its argument key is the key.
	NewcomerPath = "/signup/finish"
)

// serveSignUp asks for a letter. The answer tells nothing of whether there is such a user.
func (p *Pages) serveSignUp(w http.ResponseWriter, r *http.Request) error {
	if !p.auth.SignsUp() {
		return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
	}
	var v forgotView
	status := http.StatusOK
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
		v.User = r.PostForm.Get("email")
		err := p.signUp(r.Context(), r, v.User)
		if v.Error, status = shown(w, err); status == 0 {
			return err
		}
		if err == nil {
			v.Sent = "A letter is on its way to this address"
		}
	}
	return p.show(w, status, "signup", view{Title: titled("Make an account", v.Error), Body: v})
}

// newcomerView is what the page shows on which somebody becomes a user.
type newcomerView struct {
	Email string
	By    string // who invites; empty: they have signed up
	Key   string
	First string
	Last  string
	Min   int // letters of a password
	Error string
}

// serveNewcomer makes a user by the key of a letter. The key stands in the address: no
// other site is told of it, and nothing keeps the page.
func (p *Pages) serveNewcomer(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "strict-origin")
	v := newcomerView{Key: r.URL.Query().Get("key"), Min: auth.MinPassword}
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
		v.Key = r.PostForm.Get("key")
	}
	up, err := p.auth.CheckSignUp(r.Context(), v.Key)
	if err != nil {
		return p.refuseNewcomer(w, err)
	}
	v.Email, v.By, v.First = up.Email, up.By, up.First
	if r.Method != http.MethodPost {
		return p.showNewcomer(w, http.StatusOK, v)
	}
	v.First, v.Last = r.PostForm.Get("first"), r.PostForm.Get("last")
	password, err := typedTwice(r)
	if err == nil {
		_, err = p.auth.FinishSignUp(r.Context(), auth.Newcomer{Key: v.Key, First: v.First, Last: v.Last, Password: password, From: remote(r)})
	}
	if err == nil {
		ClearCookies(w.Header(), r)
		return p.sendOn(w, LoginPath+"?signed-up=1")
	}
	if fault.KindOf(err) == fault.Gone {
		return p.refuseNewcomer(w, err)
	}
	text, status := shown(w, err)
	if status == 0 {
		return err
	}
	v.Error = text
	return p.showNewcomer(w, status, v)
}

func (p *Pages) showNewcomer(w http.ResponseWriter, status int, v newcomerView) error {
	return p.show(w, status, "newcomer", view{Title: titled("Make your account", v.Error), Body: v})
}

// refuseNewcomer says that a link does not work.
func (p *Pages) refuseNewcomer(w http.ResponseWriter, err error) error {
	if fault.KindOf(err) != fault.Gone {
		return err
	}
	const title = "This link does not work any more"
	v := errorView{
		Heading: title, Link: LoginPath, LinkText: "To the login",
		Text: []string{"A link to make an account works once and for a limited time. It may also be that it was withdrawn, or not copied as a whole."},
	}
	if p.auth.SignsUp() {
		v.Link, v.LinkText = signUpPath, "Ask for another letter"
	}
	return p.show(w, http.StatusGone, "error", view{Title: titled(title, title), Body: v})
}
