package auth

import (
	"context"
	"net/http"
	"time"

	"armature/core/identity"
)

// Browser is a request's session, for pages that authenticate by it alone.
type Browser struct {
	Caller  *identity.Caller
	Session string    // its id, a secret
	Begun   time.Time // when the user logged in, to a second
	Methods []string  // by which the user has shown who they are (RFC 8176); none: a session from before they were kept
}

// Browser returns the session of the request's cookie, nil when it carries none
// that counts. Unlike Authenticate it does not ask where the request comes from:
// who changes something by it needs SameOrigin and a form bound to the session.
// Errors: Unavailable when sessions cannot be checked.
func (s *Service) Browser(ctx context.Context, r *http.Request) (*Browser, error) {
	id := SessionID(r)
	if id == "" {
		return nil, nil
	}
	e, err := s.session(ctx, id)
	if err != nil || e == nil {
		return nil, err
	}
	caller, err := s.sessionCaller(ctx, e)
	if err != nil || caller == nil {
		return nil, err
	}
	return &Browser{Caller: caller, Session: id, Begun: time.Unix(e.expires, 0).Add(-sessionLife), Methods: e.shown.amr}, nil
}
