// Package web is what a person with a browser meets: logging in and out, as a
// page and as the methods a page calls.
//
// A login ends in a session (core/auth) whose id goes into a cookie that scripts
// cannot read. The page works without JavaScript. Nothing here decides who may
// log in.
package web

import (
	"context"
	"html/template"
	"net"
	"net/http"
	"strings"

	"armature/core/auth"
	"armature/core/identity"
)

// LoginPath is where the login page is.
const LoginPath = "/login"

// Auth is what the pages need of the site's authentication; *auth.Service
// satisfies it.
type Auth interface {
	Login(ctx context.Context, a auth.Attempt) (*auth.Login, error)
	Logout(ctx context.Context, session string, from auth.Origin) error
	SameOrigin(r *http.Request) error
}

// Pages serves the pages of one site.
type Pages struct {
	auth   Auth
	login  *template.Template
	policy string // Content-Security-Policy
}

// New makes the pages of a site.
func New(a Auth) *Pages {
	return &Pages{
		auth:   a,
		login:  template.Must(template.New("login").Parse(loginTemplate)),
		policy: contentPolicy(loginStyle),
	}
}

// Serves reports whether there is a page at the path.
func Serves(path string) bool { return path == LoginPath }

// Origin is where a request comes from, of its remote address and headers.
func Origin(address string, h http.Header) auth.Origin {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return auth.Origin{Address: address, Agent: h.Get("User-Agent")}
}

func origin(r *http.Request) auth.Origin { return Origin(r.RemoteAddr, r.Header) }

// home is where a user goes after logging in: to the desk, or to the site.
func home(caller *identity.Caller) string {
	if caller.Desk {
		return "/app"
	}
	return "/"
}

// secure reports whether the browser reached the server through TLS, which a
// proxy may have ended.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
