// Package auth turns the credentials of a request into a Caller.
//
// An Authenticator knows one place where credentials may be: the Authorization
// header, or a session's cookie. A Scheme knows one kind of
// Authorization header. Service asks every Authenticator, and whoever sends
// credentials that are wrong is refused even when others are right.
//
// What was looked up is kept for as long as the site's epoch stays the same, so
// the steady state costs a request no query but, every half second, the one that
// reads the epoch. When the epoch cannot be read, credentials fail closed.
package auth

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/site"
)

// Authenticator looks for one kind of credentials in a request.
type Authenticator interface {
	// Authenticate returns who the credentials belong to, nil when the request
	// carries none of this kind, and a fault when they are wrong
	// (Authentication), malformed (BadRequest) or cannot be checked now
	// (Unavailable).
	Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error)
}

// Scheme checks what follows the scheme's name in an Authorization header. It
// never returns nil without an error.
type Scheme func(ctx context.Context, credentials string) (*identity.Caller, error)

// Service authenticates the requests of one site.
type Service struct {
	store   document.Store
	catalog *doctype.Catalog
	secret  *site.Secret
	now     func() time.Time
	known   *known
	setting func(key string) json.RawMessage
	ended   func(ctx context.Context, tx document.Tx, user string) error
	asked   []Authenticator

	crossOrigin *http.CrossOriginProtection
	hasher      *Hasher
	failures    *tally // wrong passwords, by user and by address
	resets      resets
	strangers   strangers
}

// Config is what a Service needs.
type Config struct {
	Store   document.Store
	Catalog *doctype.Catalog
	Secret  *site.Secret
	Now     func() time.Time // the site's wall clock, in the site's zone

	// Setting is a key of the site's configuration as of now, nil when it is not
	// set; nil: nothing is set.
	Setting func(key string) json.RawMessage
	// Hasher is shared by the sites of a process; nil: one of its own.
	Hasher *Hasher
	// First is asked after the session's cookie and before the Authorization
	// header: the caller found first is kept when another one is named later.
	First []Authenticator
	// Schemes are Authorization schemes beside token and basic, by name in lower
	// case.
	Schemes map[string]Scheme
	// Ended is told, in the transaction, that a user has been disabled, deleted or
	// renamed, or has another password: what was given out in the user's name ends.
	// nil: nobody needs to know.
	Ended func(ctx context.Context, tx document.Tx, user string) error
	// Clock tells how old a copy is; nil: the system's clock.
	Clock func() time.Time
}

// New makes the authentication of one site.
func New(c Config) *Service {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	s := &Service{
		store: c.Store, catalog: c.Catalog, secret: c.Secret, now: c.Now,
		known: newKnown(c.Store, c.Clock), setting: c.Setting, crossOrigin: http.NewCrossOriginProtection(),
		hasher: c.Hasher, ended: c.Ended,
	}
	if s.ended == nil {
		s.ended = func(context.Context, document.Tx, string) error { return nil }
	}
	if s.hasher == nil {
		s.hasher = NewHasher()
	}
	if s.setting == nil {
		s.setting = func(string) json.RawMessage { return nil }
	}
	t := tables()
	s.failures = &tally{s: s, dt: t.failures, lasts: s.interval}
	s.resets = resets{dt: t.resets, wishes: &tally{s: s, dt: t.wishes, lasts: func() time.Duration { return resetEvery }}}
	h := header{"token": s.token, "basic": s.basic}
	for name, scheme := range c.Schemes {
		h[name] = scheme
	}
	s.asked = append(append([]Authenticator{cookie{s}}, c.First...), h)
	return s
}

// Authenticate returns the caller of a request: the anonymous one when it
// carries no credentials, marked when its session has ended.
func (s *Service) Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	var found *identity.Caller
	for _, a := range s.asked {
		caller, err := a.Authenticate(ctx, r)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = caller
		}
	}
	if found != nil {
		return found, nil
	}
	if hasSession(r) {
		return expired, nil
	}
	return anonymous, nil
}

// anonymous and expired are shared: a Caller is immutable.
var (
	anonymous = identity.Anonymous()
	expired   = func() *identity.Caller {
		c := identity.Anonymous()
		c.Expired = true
		return c
	}()
)
