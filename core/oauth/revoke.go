package oauth

import (
	"net/http"

	"armature/core/oauth/oauthstore"
)

// revoke is the revocation endpoint (RFC 7009). Whoever has a token may end the
// grant it belongs to, all of its tokens with it. A client may show who it is; then
// it ends its own grants alone.
func (s *Service) revoke(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return fail(w, err)
	}
	if form.Get("token") == "" {
		return fail(w, refuse("invalid_request", "Missing token parameter."))
	}
	own := ""
	if len(r.Header["Authorization"]) > 0 || form.Get("client_secret") != "" {
		client, err := s.authenticateClient(r, form)
		if err != nil {
			return fail(w, err)
		}
		own = client.GetID()
	}
	t, err := s.revocable(r, form.Get("token"))
	if err != nil {
		return err
	}
	if t != nil && (own == "" || own == t.Client) {
		if err := s.store.End(r.Context(), t.Grant, s.ending("Revocation", "", byToken, nil)); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/json") // one common client wants a type
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
	return nil
}

// revocable finds a token whose grant can be ended: one that was used is as good
// for that as any.
func (s *Service) revocable(r *http.Request, token string) (*oauthstore.Token, error) {
	tokens := &strategy{s.c.Secret}
	return s.store.Any(r.Context(), tokens.hash(accessKind, token), tokens.hash(refreshKind, token))
}
