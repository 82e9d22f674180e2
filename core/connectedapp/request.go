package connectedapp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"armature/core/access"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/identity"
)

// Request is a request to a provider's API with a token attached.
type Request struct {
	App     string // name of the Connected App
	AsApp   bool   // with the app's own token (client credentials), not the caller's
	Request egress.Request

	MaxBody int64         // bytes of the answer; 0: egress.DefaultMaxBody
	Timeout time.Duration // for the request, without renewing the token; 0: egress.DefaultTimeout
}

// Do makes a request as the caller's connection. The token goes to the hosts in
// the app's Allowed Hosts, over https, and is never handed out; a redirect to
// another origin goes without it.
//
// Errors: Denied for Guest, for who may not read the app, for a host that is not
// allowed; those of a missing or ended connection; those of egress.
func (s *Service) Do(ctx context.Context, caller *identity.Caller, r Request) (*egress.Response, error) {
	user, err := whom(caller, "")
	if err != nil {
		return nil, err
	}
	if r.AsApp {
		user = ""
	}
	if err := s.admit(ctx, caller, r.App, access.Read); err != nil {
		return nil, err
	}
	a, err := s.app(ctx, r.App)
	if err != nil {
		return nil, err
	}
	policy, err := s.policy(a, r)
	if err != nil {
		return nil, err
	}
	if err := s.outgoing(); err != nil { // before a token is renewed that the original needs
		return nil, err
	}
	header := make(http.Header, len(r.Request.Header)+1)
	for key, values := range r.Request.Header {
		if !strings.EqualFold(key, "Authorization") {
			header[key] = values
		}
	}
	c, err := s.token(ctx, a, user)
	if err != nil {
		return nil, err
	}
	header.Set("Authorization", "Bearer "+c.access)
	r.Request.Header = header
	return s.egress.Do(ctx, policy, r.Request)
}

// policy is where a token may be sent.
func (s *Service) policy(a *app, r Request) (egress.Policy, error) {
	private, err := s.way.Private()
	if err != nil {
		return egress.Policy{}, err
	}
	if err := s.way.Check(r.Request.URL); err != nil {
		return egress.Policy{}, err
	}
	hosts, err := egress.ParseHosts(a.hosts...)
	if err != nil {
		return egress.Policy{}, err
	}
	policy := egress.DefaultPolicy(hosts)
	policy.Private = private
	if r.MaxBody > 0 {
		policy.MaxBody = min(policy.MaxBody, r.MaxBody)
	}
	if r.Timeout > 0 {
		policy.Timeout = r.Timeout
	}
	return policy, nil
}

// Has reports whether a user has a connection that is of use.
func (s *Service) Has(ctx context.Context, caller *identity.Caller, appID, user string) (bool, error) {
	user, err := whom(caller, user)
	if err != nil {
		return false, err
	}
	if err := s.admit(ctx, caller, appID, access.Read); err != nil {
		return false, err
	}
	c, err := s.connection(ctx, name(appID, user))
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return c.doc.Text("status") == active && (c.refresh != "" || c.fresh(s.now(), 0)), nil
}

// Discovery returns what the app's discovery document says now, to who may change
// the app: it is asked for anew each time.
func (s *Service) Discovery(ctx context.Context, caller *identity.Caller, appID string) ([]byte, error) {
	if err := s.admit(ctx, caller, appID, access.Write); err != nil {
		return nil, err
	}
	a, err := s.app(ctx, appID)
	if err != nil {
		return nil, err
	}
	if a.discovery == "" {
		return nil, fault.Invalid("", "%s has no OpenID Configuration", a.providerName)
	}
	p, err := s.discover(ctx, a.discovery, 0)
	if err != nil {
		return nil, err
	}
	return p.document, nil
}

// End forgets a connection, and asks the provider to end it too (RFC 7009). It
// reports whether the provider has.
func (s *Service) End(ctx context.Context, caller *identity.Caller, appID, user string) (revoked bool, err error) {
	if user, err = whom(caller, user); err != nil {
		return false, err
	}
	if err := s.admitChange(ctx, caller, appID); err != nil {
		return false, err
	}
	a, err := s.app(ctx, appID)
	if err != nil {
		return false, err
	}
	c, err := s.connection(ctx, name(appID, user))
	if fault.KindOf(err) == fault.NotFound {
		return false, fault.Invalid("NotConnectedError", "There is no connection to %s", a.providerName)
	}
	if err != nil {
		return false, err
	}
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		_, err := tx.Delete(ctx, s.catalog.Schema(), c.doc.Type, c.doc.Name())
		return err
	})
	if err != nil {
		return false, err
	}
	if err := s.revoke(ctx, a, c); err != nil {
		s.log.Warn("a provider has not ended a connection", "connected_app", a.name, "provider", a.providerName, "err", err)
		return false, nil
	}
	return true, nil
}
