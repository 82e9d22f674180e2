package oauth

import (
	"net/http"
	"strings"

	"armature/core/fault"
)

// userinfo is openid_profile, the userinfo endpoint (OpenID Connect Core section
// 5.3). The token is taken from the header alone.
func (s *Service) userinfo(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		return (&problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed}).write(w)
	}
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return s.challenge(w, r, http.StatusUnauthorized, "", "An access token is needed.", "")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return s.challenge(w, r, http.StatusUnauthorized, "invalid_request", "An access token is needed.", "")
	}
	t, err := s.bearer(r.Context(), token)
	if fault.KindOf(err) == fault.Authentication {
		return s.challenge(w, r, http.StatusUnauthorized, "invalid_token", "The access token is not valid.", "")
	}
	if err != nil {
		return err
	}
	if !t.caller.Holds(openID) {
		return s.challenge(w, r, http.StatusForbidden, "insufficient_scope", "The access token lacks the scope openid.", openID)
	}
	user, err := s.profile(r.Context(), t.caller.User)
	if err != nil {
		return err
	}
	base := s.c.Base(r)
	return sendJSON(w, http.StatusOK, struct {
		*profile
		Issuer string `json:"iss"`
	}{user.at(base), base})
}

// challenge refuses a request for a protected resource (RFC 6750 section 3).
// Without credentials no error is named.
func (s *Service) challenge(w http.ResponseWriter, r *http.Request, status int, code, description, scope string) error {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+`="`+printable(value)+`"`)
		}
	}
	add("error", code)
	add("scope", scope)
	add("resource_metadata", s.ResourceMetadata(r))
	header := strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
	if code == "" {
		code = "invalid_token"
	}
	return (&problem{code: code, description: description, status: status, header: http.Header{"Www-Authenticate": {header}}}).write(w)
}
