package web

import (
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
)

const (
	// addressPath is where a user asks for another address.
	addressPath = "/app/address"
	// AgreePath is where the letters to the old and to the new one lead; its argument key
	// is the key.
	AgreePath = "/update-address"
)

// addressView is what the page shows on which another address is asked for.
type addressView struct {
	Email string
	Typed string
	Waits *auth.PendingAddress // nil: none
	Fixed bool                 // it is changed otherwise
	Fresh bool
	Again string // where to log in again
	Token string
	Note  string
	Error string
}

var addressNotes = map[string]string{
	"asked": "Letters are on their way to both addresses.",
	"kept":  "You keep the address that you have.",
}

// serveAddress asks for another address, and shows the one that waits. What it says is the
// same whether somebody has that address or not.
func (p *Pages) serveAddress(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return p.showAddress(w, r, b, addressNotes[r.URL.Query().Get("done")], nil)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	switch r.PostForm.Get("do") {
	case "ask":
		if err = p.askAddress(r.Context(), r, b, r.PostForm.Get("email")); err == nil {
			return p.sendOn(w, addressPath+"?done=asked")
		}
	case "keep":
		if err = p.auth.CancelAddress(r.Context(), b, remote(r)); err == nil {
			return p.sendOn(w, addressPath+"?done=kept")
		}
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	if fault.From(err).ExcType() == auth.FreshLoginRequired {
		return p.sendOn(w, SwitchUser(addressPath))
	}
	return p.showAddress(w, r, b, "", err)
}

func (p *Pages) showAddress(w http.ResponseWriter, r *http.Request, b *auth.Browser, note string, wrong error) (err error) {
	text, status := shown(w, wrong)
	if status == 0 {
		return wrong
	}
	v := addressView{
		Email: b.Caller.Email, Typed: r.PostForm.Get("email"), Note: note, Error: text, Fresh: p.auth.Fresh(b), Again: SwitchUser(addressPath),
		Fixed: b.Caller.User == identity.Administrator,
	}
	if v.Waits, err = p.auth.WaitingAddress(r.Context(), b.Caller.User); err != nil {
		return err
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	return p.show(w, status, "address", view{Title: titled("Change your address", text), Body: v})
}

// agreeView is what the page shows to which a letter leads.
type agreeView struct {
	*auth.PendingAddress
	Key string
}

// serveAgree has one of the two addresses agree, or refuse. It is done by a button: what
// looks at the links of letters on their way agrees to nothing. The key stands in the
// address: no other site is told of it, and nothing keeps the page.
func (p *Pages) serveAgree(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "strict-origin")
	key := r.URL.Query().Get("key")
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
		key = r.PostForm.Get("key")
	}
	found, err := p.auth.CheckAddress(r.Context(), key)
	if err != nil {
		return p.refuseAgree(w, err)
	}
	if r.Method != http.MethodPost {
		return p.show(w, http.StatusOK, "agree", view{Title: "Another address", Body: agreeView{found, key}})
	}
	do := r.PostForm.Get("do")
	if do != "agree" && do != "refuse" {
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	done, err := p.auth.AnswerAddress(r.Context(), key, do == "agree", remote(r))
	if err != nil {
		return p.refuseAgree(w, err)
	}
	v := errorView{Heading: "You have agreed", Text: []string{"The address is changed when the other one has agreed as well."}, Link: homePath, LinkText: "To your account"}
	switch {
	case do == "refuse":
		v.Heading, v.Text = "It is refused", []string{"The address stays as it is. If it was not you who asked, somebody may know the password: set another one."}
		v.Link, v.LinkText = forgotPath, "Set another password"
	case done:
		v.Heading, v.Text = "The address is changed", []string{found.Email + " is the address of the account now, and you log in with it."}
	}
	return p.show(w, http.StatusOK, "error", view{Title: v.Heading, Body: v})
}

func (p *Pages) refuseAgree(w http.ResponseWriter, err error) error {
	if fault.KindOf(err) != fault.Gone {
		return err
	}
	const title = "This link does not work any more"
	return p.show(w, http.StatusGone, "error", view{Title: titled(title, title), Body: errorView{
		Heading: title, Link: addressPath, LinkText: "To your address",
		Text: []string{"A link to change an address works for a limited time. It may also be that it was refused, that another address was asked for, or that it was not copied as a whole."},
	}})
}
