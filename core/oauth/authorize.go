package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/oauth/oauthstore"
)

// maxForm is more than any form or JSON body of ours has.
const maxForm = 64 << 10

// authorize is the authorization endpoint (RFC 6749 section 3.1). It alone decides
// what comes next: the login page, which leads back here, the consent page, or the
// answer.
func (s *Service) authorize(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet:
	case http.MethodHead:
		// Link scanners and previews ask so. A code is for who follows the redirect.
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
		return nil
	case http.MethodPost:
		return s.authorizeByGet(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		return s.refuseToUser(w, r, &problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed})
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return s.refuseToUser(w, r, refuse("invalid_request", "The query cannot be read."))
	}
	browser, err := s.browser(r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	if browser == nil && q.Get("prompt") != "none" {
		return sendTo(w, r, "/login?redirect-to="+url.QueryEscape(r.URL.RequestURI()))
	}
	if browser == nil && isAddress(q.Get("client_id")) {
		// For nobody nothing is fetched, and to a stranger's client nobody is sent.
		return s.refuseToUser(w, r, refuse("login_required", "Nobody is logged in."))
	}
	base := s.c.Base(r)
	a, err := s.request(r, base, q)
	if err != nil {
		return s.refuseUnasked(w, r, a, browser, base, err)
	}
	to, err := s.next(r.Context(), a, browser, base, q, r.URL.Path)
	switch {
	case err != nil:
		return s.refuseUnasked(w, r, a, browser, base, err)
	case to == "":
		return s.ask(w, r, a, browser)
	}
	return sendTo(w, r, to)
}

// browser is who is logged in, nil for nobody. A session beside an Authorization
// header is refused: they may be two users', and a code would be for one of them.
func (s *Service) browser(r *http.Request) (*auth.Browser, error) {
	if auth.BroughtSession(r) != auth.SessionID(r) {
		return nil, refuse("invalid_request", "A user says who they are by their session, and not by an Authorization header beside it.")
	}
	browser, err := s.c.Auth.Browser(r.Context(), r)
	if names, ok := r.Context().Value(namesKey{}).(func(string)); ok && browser != nil {
		names(browser.Caller.User)
	}
	return browser, err
}

type namesKey struct{}

// WithNames makes a context whose authorization and consent tell names which user
// they are for: the endpoints read the session themselves, and the access log is to
// say whose it was.
func WithNames(ctx context.Context, names func(user string)) context.Context {
	return context.WithValue(ctx, namesKey{}, names)
}

// refuseTwo shows a refusal of browser's to the user.
func (s *Service) refuseTwo(w http.ResponseWriter, r *http.Request, err error) error {
	var p *problem
	if errors.As(err, &p) {
		return s.refuseToUser(w, r, p)
	}
	return err
}

// authorizeByGet answers a POST, which OpenID Connect Core section 3.1.2.1 asks
// for, by sending the browser here again: a cookie goes with a GET from another
// site, and not with a POST.
func (s *Service) authorizeByGet(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
		return s.refuseToUser(w, r, refuse("invalid_request", "The form cannot be read."))
	}
	return sendTo(w, r, r.URL.EscapedPath()+"?"+r.PostForm.Encode())
}

// next says where the browser goes; empty: the user is asked.
func (s *Service) next(ctx context.Context, a *authorization, browser *auth.Browser, base string, q url.Values, path string) (string, error) {
	if browser == nil {
		return "", refuse("login_required", "Nobody is logged in.")
	}
	if as, err := s.askedAs(ctx, a, browser); err != nil {
		return "", err
	} else if !as {
		if a.wants("none") {
			return "", refuse("login_required", "Somebody else is logged in.")
		}
		return a.loginAgain(path, q), nil
	}
	now := s.c.Now().Unix()
	age := now - browser.Begun.Unix()
	if a.wants("login") || a.maxAge == 0 && a.loginAfter == 0 {
		q = clone(q)
		q.Set("prompt", strings.Join(slices.DeleteFunc(a.prompt, func(p string) bool { return p == "login" }), " "))
		if q.Get("prompt") == "" {
			q.Del("prompt")
		}
		q.Set(loginAfter, strconv.FormatInt(now, 10))
		if a.wants("none") {
			return "", refuse("login_required", "The login is too old.")
		}
		return a.loginAgain(path, q), nil
	}
	if a.maxAge > 0 && age > a.maxAge || browser.Begun.Unix() < a.loginAfter {
		if a.wants("none") {
			return "", refuse("login_required", "The login is too old.")
		}
		return a.loginAgain(path, q), nil
	}
	if !a.classMet(browser.Methods) {
		return a.stepUp(path, q, now)
	}
	if !a.client.admits(browser.Caller) {
		return "", refuse("access_denied", "The user may not use this application.")
	}
	ask, err := s.mustAsk(ctx, a, browser)
	if err != nil {
		return "", err
	}
	if ask && a.wants("none") {
		return "", refuse("consent_required", "The user has to be asked.")
	}
	if ask {
		return "", nil
	}
	return s.grant(ctx, a, browser, base, nil)
}

func clone(q url.Values) url.Values {
	c := make(url.Values, len(q))
	for name, values := range q {
		c[name] = slices.Clone(values)
	}
	return c
}

// loginAgain is the login page for somebody who is logged in already.
func (a *authorization) loginAgain(path string, q url.Values) string {
	page := "/login?switch=1&"
	if !a.classMet(nil) {
		page += "second-factor=1&"
	}
	return page + "redirect-to=" + url.QueryEscape(path+"?"+q.Encode())
}

// mustAsk reports whether the user has to consent: not to a trusted client, and
// where the settings say so not to one the user has let in with these scopes.
func (s *Service) mustAsk(ctx context.Context, a *authorization, browser *auth.Browser) (bool, error) {
	if a.wants("consent") || a.wants("select_account") {
		return true, nil
	}
	if a.client.trusted {
		return false, nil
	}
	set, err := s.settings(ctx)
	if err != nil || !set.skip {
		return true, err
	}
	grants, err := s.store.Grants(ctx, "user", browser.Caller.User)
	if err != nil {
		return true, err
	}
	return !slices.ContainsFunc(grants, func(g oauthstore.Grant) bool {
		return g.Client == a.client.id && allCovered(g.Scopes, a.scopes)
	}), nil
}

// ask shows the consent page. Its form carries the request, and a proof that this
// request was shown in this session.
func (s *Service) ask(w http.ResponseWriter, r *http.Request, a *authorization, browser *auth.Browser) error {
	name, err := s.shown(r.Context(), a.client)
	if err != nil {
		return err
	}
	return s.c.Pages.Consent(w, r, Consent{
		Client: a.client.id, Host: a.client.host, Name: name, Itself: a.client.itself, Policy: a.client.policy, Terms: a.client.terms,
		RedirectURI: a.redirect, Scopes: a.scopes,
		User: browser.Caller.User, FullName: browser.Caller.FullName, Request: r.URL.RequestURI(),
		Action: "/api/method/" + Prefix + "approve",
		Hidden: [][2]string{{"request", r.URL.RawQuery}, {"proof", s.proof(browser, a, r.URL.RawQuery)}},
	})
}

// proof is what only a page shown in this session for this request has. Where the
// request leaves the redirect URI or the scopes to the client, those that were
// shown are bound as well.
func (s *Service) proof(browser *auth.Browser, a *authorization, request string) string {
	return hex.EncodeToString(s.c.Secret.MAC("oauth consent", strings.Join([]string{
		browser.Session, browser.Caller.User, a.redirect, strings.Join(a.scopes, " "), request,
	}, "\n")))
}

// answering reads the form of a consent page and finds out who sends it; nil for nobody.
// Errors: CSRFTokenError for a page of another site; a problem for a form that cannot be
// read and for two users at once.
func (s *Service) answering(w http.ResponseWriter, r *http.Request) (*auth.Browser, error) {
	if err := s.c.Auth.SameOrigin(r); err != nil {
		return nil, err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, refuse("invalid_request", "The form cannot be read.")
	}
	return s.browser(r)
}

// proved refuses an answer whose form has not the proof that its page was given.
func proved(r *http.Request, proof string) error {
	if equal(r.PostForm.Get("proof"), proof) {
		return nil
	}
	return &problem{code: "access_denied", status: http.StatusForbidden,
		description: "This answer does not belong to a question that was asked in this session."}
}

// approve takes the answer of the consent page. It reads the request anew: between
// question and answer the client may have changed.
func (s *Service) approve(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return s.refuseToUser(w, r, &problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed})
	}
	browser, err := s.answering(w, r)
	if err != nil {
		return s.refuseTwo(w, r, err)
	}
	request := r.PostForm.Get("request")
	if browser == nil {
		return sendTo(w, r, "/login?redirect-to="+url.QueryEscape("/api/method/"+Prefix+"authorize?"+request))
	}
	q, err := url.ParseQuery(request)
	if err != nil {
		return s.refuseToUser(w, r, refuse("invalid_request", "The query cannot be read."))
	}
	base := s.c.Base(r)
	a, err := s.request(r, base, q)
	if err != nil {
		return s.refuseRequest(w, r, a, base, err)
	}
	if err := proved(r, s.proof(browser, a, request)); err != nil {
		return s.refuseTwo(w, r, err)
	}
	if r.PostForm.Get("decision") != "allow" || !a.client.admits(browser.Caller) {
		if err := s.c.Store.Write(r.Context(), document.OneWrite, func(tx document.Tx) error {
			return s.recordAnswer(r.Context(), tx, a, browser, false)
		}); err != nil {
			return err
		}
		return s.refuseRequest(w, r, a, base, refuse("access_denied", "The user has said no."))
	}
	to, err := s.consented(r.Context(), a, browser, base)
	if err != nil {
		return s.refuseRequest(w, r, a, base, err)
	}
	return sendTo(w, r, to)
}

// consented is grant after the user has been asked: the code and the entry of the
// consent are written together.
func (s *Service) consented(ctx context.Context, a *authorization, browser *auth.Browser, base string) (string, error) {
	return s.grant(ctx, a, browser, base, func(ctx context.Context, tx document.Tx) error {
		return s.recordAnswer(ctx, tx, a, browser, true)
	})
}

// grant issues a code and returns where the browser takes it; also, unless it is nil,
// is written with the code.
func (s *Service) grant(ctx context.Context, a *authorization, browser *auth.Browser, base string, also oauthstore.Write) (string, error) {
	code, err := s.issue(ctx, a, browser, also)
	if err != nil {
		return "", err
	}
	return a.answer(base, pair{"code", code}), nil
}

// issue has fosite make and store a code. What it is lenient or strict about is
// decided by now: it is shown a request without a state of its own.
func (s *Service) issue(ctx context.Context, a *authorization, browser *auth.Browser, also oauthstore.Write) (string, error) {
	q := url.Values{
		"client_id": {a.client.id}, "response_type": {"code"}, "redirect_uri": {a.redirect},
		"scope": {strings.Join(a.scopes, " ")}, "state": {"state"},
	}
	if a.challenge != "" {
		q.Set("code_challenge", a.challenge)
		q.Set("code_challenge_method", a.method)
	}
	asks := *a.client
	asks.redirects = []string{a.redirect} // it was compared, and fosite knows no free ports
	provider := s.provider(&asks)
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: q.Encode()}}
	request, err := provider.NewAuthorizeRequest(ctx, r)
	if err != nil {
		return "", err
	}
	request.SetID(newID())
	for _, scope := range a.scopes {
		request.GrantScope(scope)
	}
	session := oauthstore.NewSession(browser.Caller.User)
	session.Resources, session.Nonce, session.Also = a.resources, a.nonce, also
	session.RedirectURI, session.RedirectSent = a.redirect, a.redirectSent
	session.Challenge, session.ChallengeMethod = a.challenge, a.method
	session.Methods = browser.Methods
	if a.maxAge >= 0 || a.loginAfter > 0 {
		session.AuthTime = browser.Begun.Unix()
	}
	response, err := provider.NewAuthorizeResponse(ctx, request, session)
	if err != nil {
		return "", err
	}
	return response.GetCode(), nil
}

// refuseUnasked is refuseRequest where the user has not been asked anything. To a
// client that has registered itself and that this user has not let in nobody is
// sent on: anybody could have made it, for a link that begins with this site's
// address and ends at another (RFC 9700 section 4.11.2).
func (s *Service) refuseUnasked(w http.ResponseWriter, r *http.Request, a *authorization, browser *auth.Browser, base string, err error) error {
	var toUser directError
	if errors.As(err, &toUser) || a == nil || a.client == nil || !a.client.itself {
		return s.refuseRequest(w, r, a, base, err)
	}
	p, err := problemOf(err)
	if err != nil {
		return err
	}
	if browser != nil {
		grants, err := s.store.Grants(r.Context(), "user", browser.Caller.User)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(grants, func(g oauthstore.Grant) bool { return g.Client == a.client.id }) {
			return s.refuseRequest(w, r, a, base, p)
		}
	}
	return s.refuseToUser(w, r, p)
}

// refuseRequest answers a request that cannot be met: to the client where its
// redirect URI is known to be its own, or else to the user.
func (s *Service) refuseRequest(w http.ResponseWriter, r *http.Request, a *authorization, base string, err error) error {
	var toUser directError
	if errors.As(err, &toUser) {
		return s.refuseToUser(w, r, toUser.problem)
	}
	p, err := problemOf(err)
	if err != nil {
		return err
	}
	return sendTo(w, r, a.answer(base, pair{"error", p.code}, pair{"error_description", printable(p.description)}))
}

// refuseToUser shows a problem to whoever asked: as a page, or to a program in the
// reference's form beside that of the RFC.
func (s *Service) refuseToUser(w http.ResponseWriter, r *http.Request, p *problem) error {
	status := p.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if accept := r.Header.Get("Accept"); strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json") {
		return s.c.Pages.OAuthError(w, r, PageError{Status: status, Code: p.code, Description: p.description})
	}
	return sendJSON(w, status, struct {
		Error            string `json:"error"`
		ErrorDescription string `json:"error_description"`
		Description      string `json:"description"`
		StatusCode       int    `json:"status_code"`
	}{p.code, printable(p.description), p.description, status})
}
