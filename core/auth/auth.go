// Package auth turns the credentials of a request into a Caller.
//
// Credentials come in the Authorization header or in a session's cookie, and the
// header alone counts where there is one: a program that says who it is must never
// act as whoever the browser is logged in as. A Scheme knows one kind of
// Authorization header. Wrong credentials are refused, whatever stands beside them.
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

// Scheme checks what follows the scheme's name in an Authorization header. It
// never returns nil without an error.
type Scheme func(ctx context.Context, r *http.Request, credentials string) (*identity.Caller, error)

// Service authenticates the requests of one site.
type Service struct {
	store   document.Store
	catalog *doctype.Catalog
	secret  *site.Secret
	now     func() time.Time
	known   *known
	setting func(key string) json.RawMessage
	ended   func(ctx context.Context, tx document.Tx, by *identity.Caller, user string) error
	header  header

	crossOrigin *http.CrossOriginProtection
	trusts      func(origin string) bool
	origins     func() []string
	hasher      *Hasher
	failures    *tally // wrong passwords, by user and by address
	resets      resets
	factors     factors
	signUps     *doctype.DocType // keys of letters by which users come
	loginCodes  *doctype.DocType // codes of letters by which users log in
	keys        *doctype.DocType // API keys beside that of the user's document
	addresses   *doctype.DocType // other addresses that users wait for
	documents   func() *document.Service
	otherWay    func(ctx context.Context, tx document.Tx, user string) (bool, error)
	mayInvite   func() error
	invite      func(*SignUp)
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
	// Origins are where the site is, scheme://host[:port], the first its address in
	// links; none: the configuration does not say. nil: it never does.
	Origins func() []string
	// TrustsOrigin reports whether pages of an origin (RFC 6454) may act with the
	// cookies of whoever looks at them; nil: those of the site alone.
	TrustsOrigin func(origin string) bool
	// Hasher is shared by the sites of a process; nil: one of its own.
	Hasher *Hasher
	// Schemes are Authorization schemes beside token and basic, by name in lower
	// case.
	Schemes map[string]Scheme
	// Ended is told, in the transaction, that a user has been disabled, deleted or
	// renamed, or has another password: what was given out in the user's name ends.
	// nil: nobody needs to know.
	Ended func(ctx context.Context, tx document.Tx, by *identity.Caller, user string) error
	// OtherWay reports whether something else than a password or a passkey lets a user
	// in, whose document is locked; nil: nothing does.
	OtherWay func(ctx context.Context, tx document.Tx, user string) (bool, error)
	// Documents is the door at which users are made who sign up; nil: nobody does.
	Documents func() *document.Service
	// MayInvite is why no letter with an invitation can be sent, and Invite sends one;
	// nil: nobody is invited.
	MayInvite func() error
	Invite    func(*SignUp)
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
		s.ended = func(context.Context, document.Tx, *identity.Caller, string) error { return nil }
	}
	if s.otherWay = c.OtherWay; s.otherWay == nil {
		s.otherWay = func(context.Context, document.Tx, string) (bool, error) { return false, nil }
	}
	if s.trusts = c.TrustsOrigin; s.trusts == nil {
		s.trusts = func(string) bool { return false }
	}
	if s.origins = c.Origins; s.origins == nil {
		s.origins = func() []string { return nil }
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
	s.factors = factors{dt: t.factors, recovery: t.recovery, browsers: t.browsers, passkeys: t.passkeys, spent: t.spent,
		wrong: &tally{s: s, dt: t.codes, lasts: func() time.Duration { return codeEvery }}}
	s.signUps, s.loginCodes, s.keys, s.addresses = t.signUps, t.loginCodes, t.keys, t.addresses
	s.documents, s.mayInvite, s.invite = c.Documents, c.MayInvite, c.Invite
	s.header = header{"token": s.token, "basic": s.basic}
	for name, scheme := range c.Schemes {
		s.header[name] = scheme
	}
	return s
}

// Authenticate returns the caller of a request: of its Authorization header, or
// else of its session; the anonymous one when it carries no credentials, marked
// when its session has ended. Errors: Authentication for wrong credentials,
// BadRequest for malformed ones and for a page of another site (CSRFTokenError),
// Unavailable when they cannot be checked now.
func (s *Service) Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	if byHeader(r) {
		caller, err := s.header.authenticate(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case caller != nil:
			return caller, nil
		case hasSession(r):
			// A program whose token is empty would act for whoever is logged in.
			return nil, wrong("a malformed Authorization header beside a session")
		}
		return anonymous, nil
	}
	caller, err := s.bySession(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case caller != nil:
		return caller, nil
	case hasSession(r):
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
