package oauthstore

import (
	"slices"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/token/jwt"

	"armature/core/doctype"
)

// Session is what goes with a grant from the authorization to its last token.
// fosite carries it; rows of the database keep it.
type Session struct {
	*openid.DefaultSession

	// Scopes is all that was granted. An access token may have less of it.
	Scopes []string
	// Resources are the resource servers the grant is bound to (RFC 8707); none:
	// this site.
	Resources []string
	// Targets are those of them that an access token is for which is asked for with
	// fewer; none: all.
	Targets []string
	// AuthTime is when the user logged in, if the client asked for it; Unix seconds.
	AuthTime int64
	// Methods are how the user logged in (RFC 8176); none: it is not known.
	Methods []string

	// GrantType is how the grant came about, as grant_type names it at the token
	// endpoint; empty: by an authorization code.
	GrantType string
	// Begins is set where the access token begins its grant: there is no code that does.
	Begins bool

	// Issuer is the site's address as the request of now reached it. No row keeps it.
	Issuer string

	// The rest is only in the session of a code.

	RedirectURI     string // where the answer goes
	RedirectSent    bool   // the client sent it, and has to send it again
	Challenge       string // of PKCE; empty: none
	ChallengeMethod string
	Nonce           string

	// Also is written together with a new code; nil: nothing is.
	Also Write
	// code is the row of a code that is redeemed. fosite asks for it four times; it is read
	// once, so that a code which is spent does not expire before its tokens are made.
	code *doctype.Document
}

// NewSession makes the session of a user; empty for one that is to be filled.
func NewSession(user string) *Session {
	return &Session{DefaultSession: &openid.DefaultSession{
		Claims: &jwt.IDTokenClaims{Subject: user}, Headers: &jwt.Headers{},
		ExpiresAt: map[fosite.TokenType]time.Time{}, Username: user, Subject: user,
	}}
}

// Clone copies the session; fosite does so before it changes one.
func (s *Session) Clone() fosite.Session {
	if s == nil {
		return nil
	}
	c := *s
	c.DefaultSession = NewSession(s.Subject).DefaultSession
	for kind, at := range s.ExpiresAt {
		c.ExpiresAt[kind] = at
	}
	c.Scopes, c.Resources, c.Methods = slices.Clone(s.Scopes), slices.Clone(s.Resources), slices.Clone(s.Methods)
	c.Targets = slices.Clone(s.Targets)
	return &c
}

// fill makes the session fosite has handed in the one that was read, and keeps what is
// of the request alone.
func fill(into fosite.Session, s *Session) fosite.Session {
	if target, ok := into.(*Session); ok && target != nil {
		s.Issuer, s.Targets = target.Issuer, target.Targets
		*target = *s
		return target
	}
	return s
}
