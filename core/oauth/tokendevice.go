package oauth

import (
	"context"
	"slices"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"

	"armature/core/oauth/oauthstore"
)

// slower is how much longer a device waits that has asked too soon, in seconds (RFC
// 8628 section 3.5).
const slower = 5

// validateDevice is that of the device grant: a device asks now and then whether its user
// has allowed what it wants (RFC 8628 section 3.4). It finds out what the user has said,
// if anything.
func (s *Service) validateDevice(ctx context.Context, t *tokenRequest) error {
	if !t.client.device {
		return refuse("unauthorized_client", "The client may not use this grant_type.")
	}
	d, err := s.store.Device(ctx, (&strategy{s.c.Secret}).hash(deviceKind, t.form.Get("device_code")))
	if err != nil {
		return err
	}
	now := s.c.Now().Unix()
	switch {
	case d == nil || d.Client != t.client.id || d.Status == oauthstore.DeviceUsed:
		return refuse("invalid_grant", "The device_code is not known.")
	case d.Expires <= now:
		return refuse("expired_token", "The device_code has expired.")
	case d.Status == oauthstore.DeviceDenied:
		return refuse("access_denied", "The user has said no.")
	case d.Status == oauthstore.DevicePending:
		return s.pending(ctx, d, now)
	}
	if err := t.validate(ctx); err != nil {
		return refusal(err)
	}
	session := t.session()
	*session = *oauthstore.NewSession(d.User)
	session.Issuer, session.Begins, session.GrantType = t.issuer, true, oauthstore.DeviceCode
	session.Scopes, session.Resources = d.Scopes, d.Resources
	session.AuthTime, session.Methods = d.AuthTime, d.Methods
	t.access.SetID(d.Grant)
	t.access.(*fosite.AccessRequest).GrantedScope = d.Scopes
	return nil
}

// pending has a device wait, and one that does not wait, longer.
func (s *Service) pending(ctx context.Context, d *oauthstore.Device, now int64) error {
	refused := refuse("authorization_pending", "The user has not answered yet.")
	interval := d.Interval
	if d.PolledAt > 0 && now-d.PolledAt < interval {
		refused = refuse("slow_down", "The device asks too often.")
		interval = min(interval+slower, deviceLives)
	}
	if err := s.store.NotePoll(ctx, d.Signature, now, interval); err != nil {
		return err
	}
	return refused
}

// deviceGrant has fosite make the tokens of a device. fosite has no such grant; what
// a user has allowed was read and checked before it is asked.
type deviceGrant struct {
	s  *Service
	id *openid.IDTokenHandleHelper
}

var _ fosite.TokenEndpointHandler = (*deviceGrant)(nil)

// CanHandleTokenEndpointRequest reports whether a request is a device's.
func (*deviceGrant) CanHandleTokenEndpointRequest(_ context.Context, r fosite.AccessRequester) bool {
	return r.GetGrantTypes().ExactOne(oauthstore.DeviceCode)
}

// CanSkipClientAuth says that no client may.
func (*deviceGrant) CanSkipClientAuth(context.Context, fosite.AccessRequester) bool { return false }

// HandleTokenEndpointRequest has nothing left to check.
func (g *deviceGrant) HandleTokenEndpointRequest(ctx context.Context, r fosite.AccessRequester) error {
	if !g.CanHandleTokenEndpointRequest(ctx, r) {
		return fosite.ErrUnknownRequest
	}
	return nil
}

// PopulateTokenEndpointResponse makes the tokens and spends the code, in one
// transaction: of several requests at once one gets tokens.
func (g *deviceGrant) PopulateTokenEndpointResponse(ctx context.Context, r fosite.AccessRequester, answer fosite.AccessResponder) error {
	if !g.CanHandleTokenEndpointRequest(ctx, r) {
		return fosite.ErrUnknownRequest
	}
	kinds := &strategy{g.s.c.Secret}
	access, accessSignature, err := kinds.generate(accessKind)
	if err != nil {
		return err
	}
	refresh, refreshSignature, err := kinds.generate(refreshKind)
	if err != nil {
		return err
	}
	lifetimes, err := g.s.lifetimes(ctx)
	if err != nil {
		return err
	}
	answer.SetAccessToken(access)
	answer.SetTokenType("bearer")
	answer.SetExpiresIn(lifetimes.Access)
	answer.SetScopes(r.GetGrantedScopes())
	answer.SetExtra("refresh_token", refresh)
	if slices.Contains(r.GetGrantedScopes(), openID) {
		session := r.GetSession().(*oauthstore.Session)
		session.IDTokenClaims().AccessTokenHash = g.id.GetAccessTokenHash(ctx, r, answer)
		if err := g.id.IssueExplicitIDToken(ctx, lifetimes.Access/time.Second*time.Second, r, answer); err != nil {
			return err
		}
	}
	return g.store(ctx, r, accessSignature, refreshSignature)
}

func (g *deviceGrant) store(ctx context.Context, r fosite.AccessRequester, access, refresh string) error {
	code := (&strategy{g.s.c.Secret}).hash(deviceKind, r.GetRequestForm().Get("device_code"))
	ctx, err := g.s.store.BeginTX(ctx)
	if err != nil {
		return err
	}
	if err := g.s.store.SpendDevice(ctx, code); err != nil {
		return err
	}
	if err := g.s.store.CreateAccessTokenSession(ctx, access, r); err != nil {
		return err
	}
	if err := g.s.store.CreateRefreshTokenSession(ctx, refresh, access, r); err != nil {
		return err
	}
	return g.s.store.Commit(ctx)
}
