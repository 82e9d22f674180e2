package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/social"
)

const (
	// withPath is where a login with an account elsewhere begins; below it, people come
	// back.
	withPath = LoginPath + "/with"
	// accountsPath is where a user says which accounts elsewhere let them in.
	accountsPath = "/app/accounts"
)

// Social is what the pages need of logins with accounts elsewhere; *social.Service
// satisfies it.
type Social interface {
	Buttons(ctx context.Context) ([]social.Button, error)
	Begin(ctx context.Context, r *http.Request, w social.Wish) (*social.Begun, error)
	Finish(ctx context.Context, a social.Answer) (social.Done, error)
	Ties(ctx context.Context, user string) ([]social.Tie, error)
	Untie(ctx context.Context, b *auth.Browser, id string, from auth.Remote) error
}

// serveWith begins a login with an account elsewhere, by a form of the login page.
func (p *Pages) serveWith(w http.ResponseWriter, r *http.Request) error {
	if err := p.readForm(w, r); err != nil {
		return err
	}
	to := localPath(r.PostForm.Get("redirect-to"))
	err := p.leave(w, r, social.Wish{Key: r.PostForm.Get("provider"), To: to, Factor: r.PostForm.Get("second-factor") == "1"})
	return p.refuseWith(w, r, to, err)
}

// leave sends the browser to a provider.
func (p *Pages) leave(w http.ResponseWriter, r *http.Request, wish social.Wish) error {
	begun, err := p.social.Begin(r.Context(), r, wish)
	if err != nil {
		return err
	}
	set(w.Header(), r, secretCookie(r, begun.Cookie), begun.Value, begun.Lives)
	p.guard(w.Header())
	w.Header().Set("Referrer-Policy", "no-referrer") // the provider need not know where on the site that was
	w.Header().Set("Location", begun.Address)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// serveBack is where a provider sends people back to.
func (p *Pages) serveBack(w http.ResponseWriter, r *http.Request) error {
	name, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), social.CallbackPath))
	if err != nil {
		return fault.Invalid("", "The address could not be read")
	}
	b, err := p.auth.Browser(r.Context(), r)
	if err != nil {
		return err
	}
	cookie := social.Cookie(r.URL.Query())
	a := p.attempt(r, "", "")
	done, err := p.social.Finish(r.Context(), social.Answer{
		Key: name, Query: r.URL.Query(), Ticket: brought(r, cookie), Browser: b, From: a.From, Session: a.Session, Known: a.Known,
	})
	if cookie != "" {
		set(w.Header(), r, secretCookie(r, cookie), "", -time.Second)
	}
	var waits *auth.Challenge
	switch {
	case errors.As(err, &waits):
		return p.askForCode(w, r, waits, done.To)
	case err != nil:
		return p.refuseWith(w, r, done.To, err)
	case done.Login == nil:
		return p.sendOn(w, accountsPath+"?done=added")
	}
	p.setCookies(w, r, done.Login)
	return p.sendOn(w, cmp.Or(done.To, home(done.Login.Caller)))
}

// refuseWith shows what went wrong on the login page, from which another way can be gone;
// nil stays nil.
func (p *Pages) refuseWith(w http.ResponseWriter, r *http.Request, to string, err error) error {
	f := fault.From(err)
	switch {
	case err == nil:
		return nil
	case f.ExcType() == auth.FreshLoginRequired:
		return p.sendOn(w, SwitchUser(accountsPath))
	case f.Kind == fault.Permission || f.Kind == fault.NotFound || f.Kind == fault.Timeout:
		err = &fault.Error{Kind: fault.Validation, Message: f.Message, Err: err}
	}
	v := loginView{Redirect: to}
	var failed error
	if v.Asker, _, failed = p.asker(r, to); failed != nil {
		return failed
	}
	return p.refuseLogin(w, r, v, err)
}

// accountsView is what the page shows.
type accountsView struct {
	Accounts []accountView
	Others   []social.Button // that can be added
	Fresh    bool
	Again    string // where to log in again
	Token    string
	Note     string
	Error    string
}

type accountView struct {
	ID, Provider, Account string
	Added, Used           string // in words
}

var accountNotes = map[string]string{
	"added":   "The account is connected: you can log in with it.",
	"removed": "The account is disconnected: nobody logs in with it any more.",
}

// serveAccounts shows a user's accounts elsewhere; its forms connect and disconnect them.
func (p *Pages) serveAccounts(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	b, err := p.session(r, caller)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return p.showAccounts(w, r, b, accountNotes[r.URL.Query().Get("done")], nil)
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	switch r.PostForm.Get("do") {
	case "connect":
		err = p.leave(w, r, social.Wish{Key: r.PostForm.Get("provider"), To: accountsPath, Tie: b})
		if err == nil {
			return nil
		}
	case "disconnect":
		if err = p.social.Untie(r.Context(), b, r.PostForm.Get("account"), remote(r)); err == nil {
			return p.sendOn(w, accountsPath+"?done=removed")
		}
	default:
		return fault.New(fault.BadRequest, "", "The form could not be read")
	}
	if fault.From(err).ExcType() == auth.FreshLoginRequired {
		return p.sendOn(w, SwitchUser(accountsPath))
	}
	return p.showAccounts(w, r, b, "", err)
}

func (p *Pages) showAccounts(w http.ResponseWriter, r *http.Request, b *auth.Browser, note string, wrong error) error {
	text, status := shown(w, wrong)
	if status == 0 {
		return wrong
	}
	v := accountsView{Note: note, Error: text, Fresh: p.auth.Fresh(b), Again: SwitchUser(accountsPath)}
	ties, err := p.social.Ties(r.Context(), b.Caller.User)
	if err != nil {
		return err
	}
	for _, t := range ties {
		a := accountView{ID: t.ID, Provider: t.Provider, Account: plain(t.Account), Added: p.since(t.Added)}
		if t.Used > 0 {
			now := p.now()
			a.Used = day(time.Unix(t.Used, 0).In(now.Location()), now)
		}
		v.Accounts = append(v.Accounts, a)
	}
	if v.Others, err = p.social.Buttons(r.Context()); err != nil {
		return err
	}
	if v.Token, err = p.auth.CSRFToken(r.Context(), r); err != nil {
		return err
	}
	return p.show(w, status, "accounts", view{Title: titled("Accounts elsewhere", text), Body: v})
}
