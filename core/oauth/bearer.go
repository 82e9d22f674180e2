package oauth

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
	"armature/core/scope"
)

// bearerToken is an access token that was looked up since credentials last
// changed.
type bearerToken struct {
	caller    *identity.Caller
	grant     string
	resources []string // for which it is; none: the whole site
	expires   int64
	lastUsed  atomic.Int64
}

// touchEvery is how much later than the last noted use another one is noted.
const touchEvery = int64(5 * time.Minute / time.Second)

// Bearer is the scheme of access tokens: the user who let the client in, narrowed
// to what was granted. Whatever has ended the token since, a revocation, a new
// password, a deleted client, has moved the site's epoch, so that what is kept is
// not older than half a second. Errors: Authentication; Unavailable when tokens
// cannot be checked.
//
// A token whose client has named resources is for them, and for nothing else of the
// site (RFC 8707 section 2): whoever it is shown to at one of them cannot use it at
// another.
func (s *Service) Bearer(ctx context.Context, r *http.Request, token string) (*identity.Caller, error) {
	t, err := s.bearer(ctx, token)
	if err != nil {
		return nil, err
	}
	if len(t.resources) > 0 && !within(t.resources, s.c.Base(r), r.URL.EscapedPath()) {
		return nil, elsewhere
	}
	if p := s.part(r.URL.Path); p != nil && !names(t.resources, s.c.Base(r), p.Path) {
		return nil, elsewhere
	}
	return t.caller, nil
}

// elsewhere is the answer to a token that is for another part of the site.
var elsewhere = &fault.Error{Kind: fault.Authentication, Message: "The access token is for another resource", Quiet: true}

func (s *Service) bearer(ctx context.Context, token string) (*bearerToken, error) {
	signature := (&strategy{s.c.Secret}).hash(accessKind, token)
	if signature == "" {
		return nil, wrongToken
	}
	v, err := s.c.Auth.Remember(ctx, signature, func(ctx context.Context) (any, error) {
		return s.readBearer(ctx, signature)
	})
	if err != nil {
		return nil, err
	}
	t, now := v.(*bearerToken), s.c.Now().Unix()
	if t.expires <= now {
		return nil, wrongToken
	}
	s.touch(ctx, t, now)
	return t, nil
}

// wrongToken is the one answer to a token that does not count.
var wrongToken = &fault.Error{Kind: fault.Authentication, Message: "Invalid access token", Quiet: true}

func (s *Service) readBearer(ctx context.Context, signature string) (*bearerToken, error) {
	found, err := s.store.Access(ctx, signature)
	if err != nil {
		return nil, unavailable(err)
	}
	if found == nil {
		return nil, wrongToken
	}
	caller, err := s.holder(ctx, found)
	if err != nil {
		return nil, err
	}
	t := &bearerToken{caller: caller, grant: found.Grant, resources: found.Resources, expires: found.Expires}
	t.lastUsed.Store(found.LastUsed)
	return t, nil
}

// holder is who a token acts as. A client that is gone, or may not have the scopes
// any more, has no tokens; nor has a user who is disabled or may not use it.
func (s *Service) holder(ctx context.Context, t *oauthstore.Token) (*identity.Caller, error) {
	client, err := s.client(ctx, t.Client)
	if gone(err) {
		return nil, wrongToken
	}
	if err != nil {
		return nil, unavailable(err)
	}
	user, err := s.c.Auth.Caller(ctx, t.User)
	if err != nil {
		return nil, err
	}
	if !allCovered(client.scopes, t.Scopes) || !client.admits(user) {
		return nil, wrongToken
	}
	if t.GrantType == oauthstore.ClientCredentials && client.service != t.User {
		return nil, wrongToken // it acts as somebody else now, or not any more
	}
	caller := *user
	caller.Client = client.id
	caller.Scopes = []*scope.Set{scope.Token(t.Scopes...)}
	return &caller, nil
}

// touch notes the use of a grant, now and then. Of many requests at once one does
// it, and a database that cannot be written to fails nobody's request.
func (s *Service) touch(ctx context.Context, t *bearerToken, now int64) {
	last := t.lastUsed.Load()
	if now-last < touchEvery || !t.lastUsed.CompareAndSwap(last, now) {
		return
	}
	if err := s.store.Touch(ctx, t.grant, now); err != nil {
		s.log.WarnContext(ctx, "note the use of an OAuth grant", "error", err)
	}
}

func unavailable(err error) error {
	if f := fault.From(err); f.Kind != fault.Internal {
		return f
	}
	return fault.Wrap(fault.Unavailable, "", err, "Credentials cannot be checked at the moment")
}
