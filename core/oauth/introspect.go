package oauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"armature/core/fault"
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

// introspect is the introspection endpoint (RFC 7662). It asks for no credentials:
// who has a token may know what it is.
func (s *Service) introspect(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return fail(w, err)
	}
	inactive := struct {
		Active bool `json:"active"`
	}{}
	t, err := s.find(r.Context(), form.Get("token"), form.Get("token_type_hint"))
	if err != nil {
		return err
	}
	if t == nil {
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
