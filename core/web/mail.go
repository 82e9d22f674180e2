package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"armature/core/auth"
	"armature/core/fault"
)

const (
	// mailPath is where a code by mail is asked for, to log in with.
	mailPath = LoginPath + "/mail"
	// MailedCodePath is where it is typed in, and where the link of the letter leads; its
	// argument key is the key.
	MailedCodePath = mailPath + "/code"
)

// mailCookie holds what a login goes on with that waits for the code: the code is good in the browser
// that has asked, and nowhere else.
const mailCookie = "login_mail"

// mailLife is longer than a code is good.
const mailLife = 15 * time.Minute

// mailAddress is the page on which a code is asked for, for a login that leads somewhere.
func mailAddress(to string, factor bool) string {
	q := url.Values{}
	if to != "" {
		q.Set("redirect-to", to)
	}
	if factor {
		q.Set("second-factor", "1")
	}
	if len(q) == 0 {
		return mailPath
	}
	return mailPath + "?" + q.Encode()
}

func noMail() error {
	return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no page at this address")
}

// mailView is what the page shows on which a code is asked for.
type mailView struct {
	User     string // as typed
	Redirect string
	Factor   bool
	Back     string // to the password
	Error    string
}

// serveMail asks for a code. What comes of it tells nothing of whether there is such a user.
func (p *Pages) serveMail(w http.ResponseWriter, r *http.Request) error {
	if !p.auth.MailsCodes() {
		return noMail()
	}
	if r.Method != http.MethodPost {
		q := r.URL.Query()
		return p.showMail(w, http.StatusOK, mailView{Redirect: localPath(q.Get("redirect-to")), Factor: q.Get("second-factor") == "1"})
	}
	if err := p.readForm(w, r); err != nil {
		return err
	}
	v := mailView{User: r.PostForm.Get("usr"), Redirect: localPath(r.PostForm.Get("redirect-to")), Factor: r.PostForm.Get("second-factor") == "1"}
	if len(v.Redirect) > longestWait {
		v.Redirect = ""
	}
	token, err := p.askCode(r.Context(), r, auth.CodeWish{User: v.User, To: v.Redirect, Factor: v.Factor})
	if err != nil {
		text, status := shown(w, err)
		if status == 0 {
			return err
		}
		v.Error = text
		return p.showMail(w, status, v)
	}
	set(w.Header(), r, secretCookie(r, mailCookie), token, mailLife)
	return p.sendOn(w, MailedCodePath)
}

// longestWait is how long a path may be that a login leads to which waits in a cookie:
// browsers keep 4096 bytes of one (RFC 6265 section 6.1).
const longestWait = 2000

func (p *Pages) showMail(w http.ResponseWriter, status int, v mailView) error {
	v.Back = LoginPath
	if v.Redirect != "" {
		v.Back = withArgument(v.Back, "redirect-to", v.Redirect)
	}
	return p.show(w, status, "mail", view{Title: titled("Log in with a code by mail", v.Error), Body: v})
}

// mailedView is what the page shows on which a code is typed in.
type mailedView struct {
	User  string // as typed when it was asked for
	Key   string // of the link, in place of the code; empty: the code is typed in
	Again string // where another one is asked for
	Error string
}

// serveMailedCode takes a code, or the key of a letter's link, which is sent by a button: what looks at the links of
// letters on their way logs nobody in.
func (p *Pages) serveMailedCode(w http.ResponseWriter, r *http.Request) error {
	// With no-referrer the form would come from the origin null.
	w.Header().Set("Referrer-Policy", "strict-origin")
	if !p.auth.MailsCodes() {
		return noMail()
	}
	if r.Method == http.MethodPost {
		if err := p.readForm(w, r); err != nil {
			return err
		}
	}
	token := brought(r, mailCookie)
	wish, err := p.auth.WaitingCode(token)
	if err != nil {
		return p.noCode(w, r, err)
	}
	v := mailedView{User: wish.User, Again: mailAddress(wish.To, wish.Factor)}
	if r.Method != http.MethodPost {
		v.Key = r.URL.Query().Get("key")
		return p.showMailed(w, http.StatusOK, v)
	}
	code := r.PostForm.Get("code")
	if key := r.PostForm.Get("key"); key != "" {
		code = key
	}
	login, err := p.auth.LoginWithCode(r.Context(), auth.CodeLogin{
		Token: token, Code: code, From: remote(r), Session: auth.BroughtSession(r),
		Known: func(user string) string { return brought(r, p.auth.BrowserCookie(user)) },
	})
	var waits *auth.Challenge
	switch {
	case errors.As(err, &waits):
		p.forgetWish(w, r)
		return p.askForCode(w, r, waits, wish.To)
	case fault.KindOf(err) == fault.Gone:
		return p.noCode(w, r, err)
	case err != nil:
		text, status := shown(w, err)
		if status == 0 {
			return err
		}
		v.Error = text
		return p.showMailed(w, status, v)
	}
	p.forgetWish(w, r)
	p.setCookies(w, r, login)
	to := wish.To
	if to == "" {
		to = home(login.Caller)
	}
	return p.sendOn(w, to)
}

func (p *Pages) forgetWish(w http.ResponseWriter, r *http.Request) {
	set(w.Header(), r, secretCookie(r, mailCookie), "", -time.Second)
}

func (p *Pages) showMailed(w http.ResponseWriter, status int, v mailedView) error {
	return p.show(w, status, "mailed", view{Title: titled("Enter the code of the letter", v.Error), Body: v})
}

// noCode says that a letter does nothing in this browser, or not any more.
func (p *Pages) noCode(w http.ResponseWriter, r *http.Request, err error) error {
	if fault.KindOf(err) != fault.Gone {
		return err
	}
	if brought(r, mailCookie) != "" {
		p.forgetWish(w, r)
	}
	const title = "This code does not work here"
	return p.show(w, http.StatusGone, "error", view{Title: titled(title, title), Body: errorView{
		Heading: title,
		Text: []string{
			"A code works for a few minutes, in the browser in which it was asked for.",
			"If you have asked in another browser, or on another device, type the code of the letter in there. If you have not asked at all, leave the letter alone.",
		},
		Link: mailPath, LinkText: "Ask for another code",
	}})
}
