package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
)

// introspection is what is said of an active token (SPEC: Introspection response).
type introspection struct {
	Active    bool     `json:"active"`
	Client    string   `json:"client_id"`
	Trusted   int      `json:"trusted_client"`
	Expires   int64    `json:"exp"`
	Scope     string   `json:"scope"`
	Audiences []string `json:"aud,omitempty"`
	*profile
	Issuer string `json:"iss,omitempty"`
}

// introspect is the introspection endpoint (RFC 7662). Who asks has to say who they
// are (section 2.1): a client by its secret, or a user by the Authorization header
// of the API. Without that nothing is said, of any token; a setting may open the
// endpoint to everybody.
func (s *Service) introspect(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return fail(w, err)
	}
	inactive := struct {
		Active bool `json:"active"`
	}{}
	asker, err := s.asker(r, form)
	if err != nil {
		return fail(w, err)
	}
	t, err := s.find(r.Context(), form.Get("token"), form.Get("token_type_hint"))
	if err != nil {
		return err
	}
	if t == nil || !asker(t) {
		return sendJSON(w, http.StatusOK, inactive)
	}
	caller, err := s.holder(r.Context(), t)
	if fault.KindOf(err) == fault.Authentication {
		return sendJSON(w, http.StatusOK, inactive)
	}
	if err != nil {
		return err
	}
	client, err := s.client(r.Context(), t.Client)
	if err != nil {
		return err
	}
	answer := introspection{
		Active: true, Client: t.Client, Expires: t.Expires, Scope: strings.Join(t.Scopes, " "), Audiences: t.Resources,
	}
	if client.trusted {
		answer.Trusted = 1
	}
	if slices.Contains(t.Scopes, openID) {
		base := s.c.Base(r)
		user, err := s.profile(r.Context(), caller.User)
		if err != nil {
			return err
		}
		answer.profile, answer.Issuer = user.at(base), base
	}
	return sendJSON(w, http.StatusOK, answer)
}

// asker finds out who asks and returns which tokens they may know of. A client that
// anybody could have registered knows of its own, and so does a public one, which
// shows no secret; a user of those that act for the user.
func (s *Service) asker(r *http.Request, form url.Values) (may func(*oauthstore.Token) bool, err error) {
	every := func(*oauthstore.Token) bool { return true }
	set, err := s.settings(r.Context())
	if err != nil {
		return nil, err
	}
	header := r.Header["Authorization"]
	scheme := ""
	if len(header) > 0 {
		scheme, _, _ = strings.Cut(header[0], " ")
	}
	switch {
	case len(header) > 0 && !strings.EqualFold(scheme, "Basic"):
		caller, err := s.c.Auth.Authenticate(r.Context(), r)
		if err != nil || caller.IsGuest() {
			return nil, unproven(err, scheme)
		}
		return func(t *oauthstore.Token) bool {
			own := t.User == caller.User && (caller.Client == "" || t.Client == caller.Client)
			return own || caller.Scopes == nil && caller.HasRole(identity.SystemManager)
		}, nil
	case len(header) == 0 && form.Get("client_secret") == "" && set.openIntrospection:
		return every, nil
	}
	if shown, err := readCredentials(r, form); err == nil && shown.secret == "" {
		return nil, unproven(nil, scheme) // the id of a public client proves nothing
	}
	found, err := s.authenticateClient(r, form)
	if p, own := problemOf(err); err != nil && own == nil && p.code == "invalid_client" {
		return nil, unproven(nil, scheme)
	}
	if err != nil {
		return nil, err
	}
	if found.itself || found.IsPublic() {
		return func(t *oauthstore.Token) bool { return t.Client == found.id }, nil
	}
	return every, nil
}

// unproven refuses whoever has not said who they are, or not rightly. RFC 7662
// section 2.3 has it be a 401 however the credentials came, and RFC 9110 section
// 11.6.1 has that name what would do: an access token (RFC 6750 section 3), or a
// client's secret (RFC 6749 section 5.2). Who came with a token hears that it is
// that which is wrong. A failure of the server's stays one.
func unproven(err error, scheme string) error {
	if k := fault.KindOf(err); err != nil && k != fault.Authentication && k != fault.BadRequest {
		return err
	}
	p := refuse("invalid_client", "Introspection asks who is asking: a client shows its secret, or a user the Authorization header.")
	bearer := `Bearer realm="OAuth"`
	if strings.EqualFold(scheme, "Bearer") {
		p = refuse("invalid_token", "The access token is not valid.")
		bearer += `, error="invalid_token"`
	}
	p.status = http.StatusUnauthorized
	p.header = http.Header{"Www-Authenticate": {`Basic realm="OAuth"`, bearer}}
	return p
}

// find finds a token that counts, nil when there is none. The hint says which kind
// to look for first (RFC 7662 section 2.1).
func (s *Service) find(ctx context.Context, token, hint string) (*oauthstore.Token, error) {
	tokens := &strategy{s.c.Secret}
	access := func() (*oauthstore.Token, error) { return s.store.Access(ctx, tokens.hash(accessKind, token)) }
	refresh := func() (*oauthstore.Token, error) { return s.store.Refresh(ctx, tokens.hash(refreshKind, token)) }
	if hint == "refresh_token" {
		access, refresh = refresh, access
	}
	t, err := access()
	if t != nil || err != nil {
		return t, err
	}
	return refresh()
}

// gone reports whether an error says that a client does not exist.
func gone(err error) bool { return errors.Is(err, fosite.ErrNotFound) }
