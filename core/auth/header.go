package auth

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"armature/core/fault"
	"armature/core/identity"
)

// header is the Authorization header: its schemes by name, in lower case.
type header map[string]Scheme

// byHeader reports whether a request says by its Authorization header who makes
// it. An empty one says nothing.
func byHeader(r *http.Request) bool {
	values := r.Header["Authorization"]
	return len(values) > 1 || len(values) == 1 && strings.TrimSpace(values[0]) != ""
}

// authenticate follows the reference, section 5.1: a header that is not exactly
// two parts separated by a space does not count, an unknown scheme is refused.
func (h header) authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	values := r.Header["Authorization"]
	// Proxies disagree about which of two headers counts, so none does.
	if len(values) > 1 {
		return nil, wrong("more than one Authorization header")
	}
	name, credentials, ok := splitHeader(values[0])
	if !ok {
		return nil, nil
	}
	scheme := h[name]
	if scheme == nil {
		return nil, wrong("unknown scheme")
	}
	return scheme(ctx, r, credentials)
}

// splitHeader returns the scheme, in lower case, and what follows it.
func splitHeader(value string) (scheme, credentials string, ok bool) {
	scheme, credentials, ok = strings.Cut(value, " ")
	if !ok || strings.Contains(credentials, " ") {
		return "", "", false
	}
	return strings.ToLower(scheme), credentials, true
}

// token is the scheme "token <key>:<secret>".
func (s *Service) token(ctx context.Context, _ *http.Request, credentials string) (*identity.Caller, error) {
	key, secret, ok := strings.Cut(credentials, ":")
	if !ok {
		return nil, wrong("no colon between key and secret")
	}
	return s.byKey(ctx, key, secret)
}

// basic is the scheme "Basic base64(<key>:<secret>)".
func (s *Service) basic(ctx context.Context, r *http.Request, credentials string) (*identity.Caller, error) {
	text, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil {
		return nil, fault.Wrap(fault.BadRequest, "InvalidAuthorizationToken", err,
			"Failed to decode token, please provide a valid base64-encoded token.")
	}
	return s.token(ctx, r, string(text))
}

// wrong is the one answer to wrong credentials: it does not say to the client
// what is wrong with them, only to the log.
func wrong(reason string) error {
	return &fault.Error{Kind: fault.Authentication, Err: reasonError(reason), Quiet: true}
}

type reasonError string

func (e reasonError) Error() string { return string(e) }
