package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

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
// form, and otp, a code of the authenticator app or a recovery code, of who has a
// second factor. Errors: those of auth.Service.Login: SecondFactorRequired where otp
// is missing, SecondFactorEnrolmentRequired where a browser has to set one up first;
// CSRFTokenError for a page of another site; BadRequest for a password in the
// address, which ends in logs.
func (p *Pages) ServeLogin(w http.ResponseWriter, r *http.Request, get func(name string) any) error {
	if err := p.auth.TrustedOrigin(r); err != nil {
		return err
	}
	if q := r.URL.Query(); q.Has("pwd") || q.Has("otp") {
		return fault.New(fault.BadRequest, "", "Send the password and the code in the body of the request")
	}
	user, _ := get("usr").(string)
	password, _ := get("pwd").(string)
	a := p.attempt(r, user, password)
	a.Code, _ = get("otp").(string)
	login, err := p.auth.Login(r.Context(), a)
	if err != nil {
		return err
	}
	return p.answerLogin(w, r, login)
}

// answerLogin lets a program in.
func (p *Pages) answerLogin(w http.ResponseWriter, r *http.Request, login *auth.Login) error {
	p.setCookies(w, r, login)
	answer := loggedIn{Message: "No App", HomePage: home(login.Caller), FullName: login.Caller.FullName}
	if login.Caller.Desk {
		answer.Message, answer.DashboardRoute = "Logged In", home(login.Caller)
	}
	return sendJSON(w, answer)
}

// ServeLogout is the method logout: it ends the session of the request's cookie.
// Without one there is nothing to end, and that is no error.
func (p *Pages) ServeLogout(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		if err := p.admitLogoutByGet(r); err != nil {
			return err
		}
	}
	if err := p.endSession(w, r); err != nil {
		return err
	}
	return sendJSON(w, struct{}{})
}

// admitLogoutByGet refuses a logout by GET where the site does not want it, and one that
// nobody has asked for: no page of another site, whose pictures and links make requests
// with the session's cookie, and no browser that only fetches in advance. A request whose
// browser does not say where it comes from (Fetch Metadata) has to say so itself.
func (p *Pages) admitLogoutByGet(r *http.Request) error {
	if r.Method != http.MethodGet || p.logoutByGet == nil || !p.logoutByGet() {
		return fault.Denied("Not permitted")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
	case "":
		// A program. What a browser says besides has to fit.
		for _, name := range []string{"Origin", "Referer"} {
			if from := r.Header.Get(name); from != "" && !sameHost(from, r.Host) {
				return fault.New(fault.BadRequest, "CSRFTokenError", "Invalid Request")
			}
		}
	default:
		return fault.New(fault.BadRequest, "CSRFTokenError", "Invalid Request")
	}
	if r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		return fault.New(fault.BadRequest, "CSRFTokenError", "Invalid Request")
	}
	return nil
}

// sameHost reports whether an address is on the host that a request was sent to.
func sameHost(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.EqualFold(u.Host, host)
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

func (p *Pages) attempt(r *http.Request, user, password string) auth.Attempt {
	return auth.Attempt{
		User: user, Password: password, From: remote(r), Session: auth.BroughtSession(r),
		Known: func(user string) string { return brought(r, p.auth.BrowserCookie(user)) },
	}
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
