// Package web is what a person with a browser meets: logging in and out, being
// asked whether an application may act for them, and being told what went wrong;
// and the methods login and logout.
//
// A login ends in a session (core/auth) whose id goes into a cookie that scripts
// cannot read. The pages have no script, but for those that ask for a passkey. Nothing here decides who may do what.
package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/proxy"
	"armature/core/social"
)

const (
	// LoginPath is where the login page is.
	LoginPath = "/login"
	// ResetPath is where a link to reset a password leads; its argument key is the
	// key.
	ResetPath = "/update-password"
)

// Auth is what the pages need of the site's authentication; *auth.Service
// satisfies it.
type Auth interface {
	Login(ctx context.Context, a auth.Attempt) (*auth.Login, error)
	Logout(ctx context.Context, session string, from auth.Remote) error
	SameOrigin(r *http.Request) error
	TrustedOrigin(r *http.Request) error
	CSRFToken(ctx context.Context, r *http.Request) (string, error)

	CheckReset(ctx context.Context, key string) (user string, err error)
	FinishReset(ctx context.Context, key, password string, from auth.Remote) (user string, err error)
	ChangePassword(ctx context.Context, c auth.Change) error

	SignsUp() bool
	CheckSignUp(ctx context.Context, key string) (*auth.SignUp, error)
	FinishSignUp(ctx context.Context, n auth.Newcomer) (user string, err error)

	MailsCodes() bool
	WaitingCode(token string) (auth.CodeWish, error)
	LoginWithCode(ctx context.Context, c auth.CodeLogin) (*auth.Login, error)

	WaitingAddress(ctx context.Context, user string) (*auth.PendingAddress, error)
	CancelAddress(ctx context.Context, b *auth.Browser, from auth.Remote) error
	CheckAddress(ctx context.Context, key string) (*auth.PendingAddress, error)
	AnswerAddress(ctx context.Context, key string, agree bool, from auth.Remote) (done bool, err error)

	Factors
	Passkeys
	Sessions
	Keys
}

// Factors is what the pages need of second factors.
type Factors interface {
	Browser(ctx context.Context, r *http.Request) (*auth.Browser, error)
	BrowserCookie(user string) string
	Remembers() bool
	Waiting(ctx context.Context, token string) (*auth.Challenge, error)
	FinishLogin(ctx context.Context, f auth.Finish) (*auth.Login, error)
	BeginLoginEnrolment(token, before, site string) (*auth.Enrolment, error)

	Factors(ctx context.Context, caller *identity.Caller) (auth.Factors, error)
	Fresh(b *auth.Browser) bool
	BeginEnrolment(ctx context.Context, b *auth.Browser, before, site string) (*auth.Enrolment, error)
	FinishEnrolment(ctx context.Context, b *auth.Browser, token, code string, from auth.Remote) (codes []string, err error)
	RemoveApp(ctx context.Context, b *auth.Browser, code string, from auth.Remote) error
	NewRecoveryCodes(ctx context.Context, b *auth.Browser, code string, from auth.Remote) (codes []string, err error)
	ForgetBrowsers(ctx context.Context, b *auth.Browser) error
}

// Config is what the pages of a site are made with.
type Config struct {
	Auth Auth
	Name func() string    // what the site is called on its pages; asked for every page
	Now  func() time.Time // in the site's time zone

	// Applications is the provider, which is made with these pages and so not
	// there before them.
	Applications func() Applications

	// Confirmations keeps what agents want to do until a user has said so.
	Confirmations Confirmations

	// Social are the logins with accounts elsewhere.
	Social Social

	// LogoutByGet reports whether the method logout is called with GET as well; nil: never.
	LogoutByGet func() bool

	// AskReset takes the wish of whoever made the request for a link to reset the
	// password of the user typed in. It tells nothing of whether there is one.
	AskReset func(ctx context.Context, r *http.Request, typed string) error
	// AskSignUp does the same for a letter by which somebody becomes a user.
	AskSignUp func(ctx context.Context, r *http.Request, typed string) error
	// AskCode does the same for a code to log in with; token is a secret of the browser.
	AskCode func(ctx context.Context, r *http.Request, w auth.CodeWish) (token string, err error)
	// AskAddress takes the wish of whoever is logged in for another address. It tells nothing
	// of whether somebody has that.
	AskAddress func(ctx context.Context, r *http.Request, b *auth.Browser, typed string) error
}

// Pages serves the pages of one site.
type Pages struct {
	auth         Auth
	name         func() string
	now          func() time.Time
	logoutByGet  func() bool
	ask          func(ctx context.Context, r *http.Request, typed string) error
	signUp       func(ctx context.Context, r *http.Request, typed string) error
	askAddress   func(ctx context.Context, r *http.Request, b *auth.Browser, typed string) error
	askCode      func(ctx context.Context, r *http.Request, w auth.CodeWish) (token string, err error)
	applications func() Applications
	social       Social
	confirms     Confirmations
	templates    templates
	policy       string // Content-Security-Policy
}

// New makes the pages of a site.
func New(c Config) *Pages {
	return &Pages{
		auth: c.Auth, name: c.Name, now: c.Now, logoutByGet: c.LogoutByGet, ask: c.AskReset, signUp: c.AskSignUp, askCode: c.AskCode, askAddress: c.AskAddress, applications: c.Applications, social: c.Social, confirms: c.Confirmations,
		templates: parseTemplates(), policy: contentPolicy(),
	}
}

// Forgets reports whether a request is a form that does not act for whoever is
// logged in but makes its sender somebody, so that a session that has ended or a
// wrong key must not stand in its way.
func Forgets(r *http.Request) bool {
	path := r.URL.Path
	return r.Method == http.MethodPost && (path == LoginPath || path == codePath || path == forgotPath || path == ResetPath || path == withPath || path == signUpPath || path == NewcomerPath || path == mailPath || path == MailedCodePath || path == AgreePath)
}

// verbs are those that each page is asked with.
var verbs = map[string]string{
	addressPath: "GET, HEAD, POST", AgreePath: "GET, HEAD, POST",
	mailPath: "GET, HEAD, POST", MailedCodePath: "GET, HEAD, POST",
	signUpPath: "GET, HEAD, POST", NewcomerPath: "GET, HEAD, POST",
	keysPath: "GET, HEAD, POST",
	withPath: "POST", social.CallbackPath: "GET, HEAD", accountsPath: "GET, HEAD, POST",
	LoginPath: "GET, HEAD, POST", codePath: "GET, HEAD, POST", factorPath: "GET, HEAD, POST", passkeysPath: "GET, HEAD, POST", sessionsPath: "GET, HEAD, POST", forgotPath: "GET, HEAD, POST", ResetPath: "GET, HEAD, POST", changePath: "GET, HEAD, POST", appsPath: "GET, HEAD, POST",
	logoutPath: "POST", confirmPath: "GET, HEAD, POST",
	"/": "GET, HEAD", homePath: "GET, HEAD", scriptPath: "GET, HEAD", "/favicon.svg": "GET, HEAD", "/favicon.ico": "GET, HEAD",
}

// ServePage serves the page at the request's path, which is one of Routes. Errors:
// MethodNotAllowed; those of the page.
func (p *Pages) ServePage(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	path := r.URL.Path
	if strings.HasPrefix(path, social.CallbackPath) {
		path = social.CallbackPath
	}
	if strings.HasPrefix(path, confirmPath) {
		path = confirmPath
	}
	if allowed := verbs[path]; !slices.Contains(strings.Split(allowed, ", "), r.Method) {
		w.Header().Set("Allow", allowed)
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	switch path {
	case LoginPath:
		return p.serveLogin(w, r, caller)
	case codePath:
		return p.serveCode(w, r)
	case mailPath:
		return p.serveMail(w, r)
	case MailedCodePath:
		return p.serveMailedCode(w, r)
	case AgreePath:
		return p.serveAgree(w, r)
	case signUpPath:
		return p.serveSignUp(w, r)
	case NewcomerPath:
		return p.serveNewcomer(w, r)
	case withPath:
		return p.serveWith(w, r)
	case social.CallbackPath:
		return p.serveBack(w, r)
	case forgotPath:
		return p.serveForgot(w, r)
	case ResetPath:
		return p.serveReset(w, r)
	case logoutPath:
		return p.serveLogout(w, r)
	case "/favicon.svg", "/favicon.ico":
		return serveIcon(w)
	case scriptPath:
		return serveScript(w)
	}
	if caller.IsGuest() {
		return p.askToLogin(w, r)
	}
	if caller.Narrowed() {
		return fault.Denied("This page is for people, not for applications") // their tokens reach what was agreed to, which is no page
	}
	switch path {
	case confirmPath:
		return p.serveConfirm(w, r, caller)
	case homePath:
		return p.serveHome(w, r, caller)
	case changePath:
		return p.serveChange(w, r, caller)
	case appsPath:
		return p.serveApps(w, r, caller)
	case factorPath:
		return p.serveFactor(w, r, caller)
	case addressPath:
		return p.serveAddress(w, r, caller)
	case accountsPath:
		return p.serveAccounts(w, r, caller)
	case sessionsPath:
		return p.serveSessions(w, r, caller)
	case keysPath:
		return p.serveKeys(w, r, caller)
	case passkeysPath:
		return p.servePasskeys(w, r, caller)
	}
	return p.sendOn(w, homePath)
}

// Remote is where a request comes from, of its remote address and headers.
func Remote(address string, h http.Header) auth.Remote {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return auth.Remote{Address: address, Agent: h.Get("User-Agent")}
}

func remote(r *http.Request) auth.Remote { return Remote(r.RemoteAddr, r.Header) }

// home is where a user goes after logging in: to the desk, or to the site.
func home(caller *identity.Caller) string {
	if caller.Desk {
		return homePath
	}
	return "/"
}

// Secure reports whether the browser reached the server through TLS, which a
// proxy may have ended.
func Secure(r *http.Request) bool {
	return proxy.Secure(r)
}
