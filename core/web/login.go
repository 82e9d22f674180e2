package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"armature/core/fault"
	"armature/core/identity"
)

//go:embed login.html
var loginTemplate string

//go:embed login.css
var loginStyle string

// loginView is what the page shows.
type loginView struct {
	Style    template.CSS
	User     string
	Redirect string
	Error    string
}

// ServePage serves the login page and takes its form. Who is logged in already
// is sent on. Errors: MethodNotAllowed; a failed login is shown on the page.
func (p *Pages) ServePage(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		to := localPath(r.URL.Query().Get("redirect-to"))
		if caller.IsGuest() {
			return p.show(w, http.StatusOK, loginView{Redirect: to})
		}
		if to == "" {
			to = home(caller)
		}
		return p.sendOn(w, to)
	case http.MethodPost:
		return p.submit(w, r)
	}
	w.Header().Set("Allow", "GET, HEAD, POST")
	return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
}

// maxForm is more than a login form has.
const maxForm = 16 << 10

// submit logs in with what was typed into the form.
func (p *Pages) submit(w http.ResponseWriter, r *http.Request) error {
	if err := p.auth.SameOrigin(r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fault.Wrap(fault.BadRequest, "", err, "The form could not be read")
	}
	view := loginView{User: r.PostForm.Get("usr"), Redirect: localPath(r.PostForm.Get("redirect-to"))}
	login, err := p.auth.Login(r.Context(), attempt(r, view.User, r.PostForm.Get("pwd")))
	if err != nil {
		return p.refuse(w, view, err)
	}
	setCookies(w, r, login)
	to := view.Redirect
	if to == "" {
		to = home(login.Caller)
	}
	return p.sendOn(w, to)
}

// refuse shows the page again with what was wrong. Failures of the server are
// answered like those of any page.
func (p *Pages) refuse(w http.ResponseWriter, view loginView, err error) error {
	f := fault.From(err)
	switch f.Kind {
	case fault.Authentication, fault.Unavailable:
	case fault.TooManyRequests:
		if wait, ok := f.Err.(interface{ SetHeaders(http.Header) }); ok {
			wait.SetHeaders(w.Header())
		}
	default:
		return err
	}
	view.Error = f.Message
	return p.show(w, f.Kind.Status(), view)
}

func (p *Pages) show(w http.ResponseWriter, status int, view loginView) error {
	view.Style = template.CSS(loginStyle) // #nosec: a constant
	var page bytes.Buffer
	if err := p.login.Execute(&page, view); err != nil {
		return err
	}
	p.guard(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client is gone
	return nil
}

// sendOn ends the POST in a GET, so that going back in the browser does not send
// the password again. The target has passed localPath.
func (p *Pages) sendOn(w http.ResponseWriter, to string) error {
	p.guard(w.Header())
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// guard keeps the page out of frames and caches, and scripts out of the page.
func (p *Pages) guard(h http.Header) {
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Frame-Options", "DENY") // for browsers older than frame-ancestors
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // redirect-to may tell what was asked for
	h.Set("Cache-Control", "no-store")
}

// contentPolicy allows a page nothing but its own style. Where a form may lead
// is left open: browsers apply that to redirects too, and a login may end at an
// OAuth client on another host.
func contentPolicy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; frame-ancestors 'none'"
}
