package oauth

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ory/fosite"

	"armature/core/auth"
)

// departure is a request of an application that its user be logged out here, too.
type departure struct {
	client  *client // who asks; nil: nobody says
	subject string  // of the ID token that was sent along; empty: none was
	to      string  // where the browser goes afterwards; empty: to the login page
}

// endSession is the end session endpoint (OpenID Connect RP-Initiated Logout 1.0,
// section 2). Who has an ID token of the user is known to the user, and is followed at
// once; anybody else could have made a link to here, and the user is asked.
func (s *Service) endSession(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet:
		return s.logoutByGet(w, r)
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
			return s.refuseToUser(w, r, refuse("invalid_request", "The form cannot be read."))
		}
		if !r.PostForm.Has("proof") {
			// Of an application: a cookie goes with a GET from another site, and not with a POST.
			return sendTo(w, r, r.URL.EscapedPath()+"?"+r.PostForm.Encode())
		}
		return s.confirmLogout(w, r)
	}
	w.Header().Set("Allow", "GET, POST")
	return s.refuseToUser(w, r, &problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed})
}

func (s *Service) logoutByGet(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		return s.refuseToUser(w, r, refuse("invalid_request", "This address is not fetched in advance."))
	}
	browser, err := s.browser(r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	d, err := s.departure(r.Context(), r.URL.RawQuery)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	if browser == nil {
		return s.depart(w, r, d)
	}
	own, err := s.isOf(r.Context(), d.subject, browser)
	if err != nil {
		return err
	}
	if own {
		if err := s.c.Pages.EndSession(w, r); err != nil {
			return err
		}
		return s.depart(w, r, d)
	}
	name := ""
	if d.client != nil {
		if name, err = s.shown(r.Context(), d.client); err != nil {
			return err
		}
	}
	return s.c.Pages.Logout(w, r, Logout{
		Name: name, User: browser.Caller.User, FullName: browser.Caller.FullName, Action: r.URL.Path,
		Hidden: [][2]string{{"request", r.URL.RawQuery}, {"proof", s.logoutProof(browser, r.URL.RawQuery)}},
	})
}

// confirmLogout takes the answer of the page that asks.
func (s *Service) confirmLogout(w http.ResponseWriter, r *http.Request) error {
	if err := s.c.Auth.SameOrigin(r); err != nil {
		return err
	}
	request := r.PostForm.Get("request")
	d, err := s.departure(r.Context(), request)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	browser, err := s.browser(r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	if browser != nil && !equal(r.PostForm.Get("proof"), s.logoutProof(browser, request)) {
		return s.refuseToUser(w, r, &problem{code: "access_denied", status: http.StatusForbidden,
			description: "This answer does not belong to a question that was asked in this session."})
	}
	if r.PostForm.Get("decision") != "logout" {
		return sendTo(w, r, "/app") // the user stays
	}
	if browser != nil {
		if err := s.c.Pages.EndSession(w, r); err != nil {
			return err
		}
	}
	return s.depart(w, r, d)
}

// depart sends a browser that is logged out to where the application wants it.
func (s *Service) depart(w http.ResponseWriter, r *http.Request, d *departure) error {
	if d.to == "" {
		return sendTo(w, r, "/login?logged-out=1")
	}
	return sendTo(w, r, d.to)
}

func (s *Service) logoutProof(browser *auth.Browser, request string) string {
	return hex.EncodeToString(s.c.Secret.MAC("oauth logout", browser.Session+"\n"+request))
}

// isOf reports whether a subject is the user of the browser.
func (s *Service) isOf(ctx context.Context, subject string, browser *auth.Browser) (bool, error) {
	if subject == "" {
		return false, nil
	}
	user, err := s.profile(ctx, browser.Caller.User)
	if err != nil {
		return false, err
	}
	return subject == user.Subject, nil
}

// departure reads a request. Nobody is sent to an address that the client has not
// registered for it (section 3).
func (s *Service) departure(ctx context.Context, query string) (*departure, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, refuse("invalid_request", "The query cannot be read.")
	}
	for name, values := range q {
		if len(values) > 1 {
			return nil, refuse("invalid_request", "Duplicate "+name+" parameter.")
		}
		if len(values[0]) > maxParameter || !utf8.ValidString(values[0]) || strings.ContainsRune(values[0], 0) {
			return nil, refuse("invalid_request", "A parameter is not text, or too long.")
		}
	}
	d, hint, id := &departure{}, q.Get("id_token_hint"), q.Get("client_id")
	if hint != "" {
		audience := audienceOf(hint)
		if audience == "" || id != "" && id != audience {
			return nil, errHint
		}
		id = audience
	}
	if id != "" {
		d.client, err = s.client(ctx, id)
		if errors.Is(err, fosite.ErrNotFound) {
			return nil, refuse("invalid_request", "Invalid client_id parameter value.")
		}
		if err != nil {
			return nil, err
		}
	}
	if hint != "" {
		if d.subject, err = s.hinted(ctx, &authorization{client: d.client, hint: hint}); err != nil {
			return nil, err
		}
	}
	to := q.Get("post_logout_redirect_uri")
	if to == "" {
		return d, nil
	}
	if d.client == nil || !slices.Contains(d.client.logouts, to) {
		return nil, refuse("invalid_request", "The post_logout_redirect_uri is not one of the client's.")
	}
	if d.to = to; q.Has("state") {
		d.to = withParameters(to, []pair{{"state", q.Get("state")}})
	}
	return d, nil
}

// audienceOf is the client that an ID token says it is for, which nobody has checked.
func audienceOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct{ Aud string }
	if json.Unmarshal(raw, &claims) != nil {
		return ""
	}
	return claims.Aud
}
