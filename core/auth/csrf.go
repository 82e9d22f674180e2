package auth

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"armature/core/document"
	"armature/core/fault"
)

// CSRFHeader is the header in which a page sends the token of its session; the
// argument csrf_token does as well.
const CSRFHeader = "X-Framework-Csrf-Token"

// checkOrigin refuses a request that changes something in the name of whoever is
// logged in but was made by a page of another site. A session from a bare login
// has no token: scripts log in and go on with the cookie alone.
func (s *Service) checkOrigin(ctx context.Context, r *http.Request, id string, issued bool) error {
	if safe(r.Method) {
		return nil
	}
	if err := s.TrustedOrigin(r); err != nil {
		return err
	}
	if !issued || s.flag("ignore_csrf") || s.trusted(r) {
		return nil
	}
	token := r.Header.Get(CSRFHeader)
	if token == "" {
		token = r.URL.Query().Get("csrf_token")
	}
	if argument, ok := ctx.Value(argumentKey{}).(func(string) any); ok && token == "" {
		token, _ = argument("csrf_token").(string)
	}
	if !equal(token, s.csrfToken(id)) {
		return forged("no or a wrong CSRF token")
	}
	return nil
}

// SameOrigin refuses a request that a browser made for a page of another site
// (CSRFTokenError), unless the site's setting allowed_referrers names its host. It is
// for forms on the site's own pages, in which a person answers.
func (s *Service) SameOrigin(r *http.Request) error {
	if err := s.crossOrigin.Check(r); err != nil && !s.referrerAllowed(r) {
		return forged(err.Error())
	}
	return nil
}

// TrustedOrigin is SameOrigin for the API: it lets in the pages of the origins that
// allow_cors names, too.
func (s *Service) TrustedOrigin(r *http.Request) error {
	if s.trusts(r.Header.Get("Origin")) {
		return nil
	}
	return s.SameOrigin(r)
}

// trusted reports whether the page that made the request is one the site names. No
// page can write another origin than its own into the header.
func (s *Service) trusted(r *http.Request) bool {
	return s.trusts(r.Header.Get("Origin")) || s.referrerAllowed(r)
}

type argumentKey struct{}

// WithArguments makes a context for Authenticate in which an argument of the
// request's body can be had. It is asked for only where a body must hold a token.
func WithArguments(ctx context.Context, r *http.Request, argument func(name string) any) context.Context {
	if safe(r.Method) {
		return ctx
	}
	return context.WithValue(ctx, argumentKey{}, argument)
}

func safe(verb string) bool {
	return verb == http.MethodGet || verb == http.MethodHead || verb == http.MethodOptions
}

func forged(reason string) error {
	return &fault.Error{Kind: fault.BadRequest, Type: "CSRFTokenError", Message: "Invalid Request", Err: reasonError(reason), Quiet: true}
}

// referrerAllowed reports whether the page that made the request is on a host the
// site trusts.
func (s *Service) referrerAllowed(r *http.Request) bool {
	allowed := s.list("allowed_referrers")
	if len(allowed) == 0 {
		return false
	}
	page := r.Header.Get("Origin")
	if page == "" {
		page = r.Header.Get("Referer")
	}
	u, err := url.Parse(page)
	return err == nil && u.Host != "" && (slices.Contains(allowed, strings.ToLower(u.Host)) || slices.Contains(allowed, strings.ToLower(u.Hostname())))
}

// csrfToken is made of the id, which the database does not know, so that nothing
// in the database helps to forge a request.
func (s *Service) csrfToken(id string) string {
	return hex.EncodeToString(s.secret.MAC("csrf", id))
}

// CSRFToken returns the token that a page puts into the requests it makes; from
// then on the session's requests need it. It is empty for a request that is not
// authenticated by a session.
func (s *Service) CSRFToken(ctx context.Context, r *http.Request) (string, error) {
	id := SessionID(r)
	if id == "" {
		return "", nil
	}
	e, err := s.session(ctx, id)
	if err != nil || e == nil {
		return "", err
	}
	token := s.csrfToken(id)
	if e.csrf {
		return token, nil
	}
	dt, err := s.docType(sessionName)
	if err != nil {
		return "", err
	}
	return token, s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		ok, err := tx.UpdateIf(ctx, dt, s.hashSession(id), map[string]any{"user": e.user}, map[string]any{"csrf_issued": int64(1)})
		if err != nil || !ok {
			return err
		}
		return s.Changed(ctx, tx)
	})
}
