package oauth

import (
	"context"
	"errors"

	"github.com/ory/fosite"

	"armature/core/fault"
	"armature/core/oauth/oauthstore"
)

// maxRefreshes bounds how often a refresh begins anew.
const maxRefreshes = 5

// exchangeRefreshToken is the refresh (RFC 6749 section 6). While a token is handed
// out once more, within the grace, another request may use it up; then there is a
// later one to hand out.
func (s *Service) exchangeRefreshToken(ctx context.Context, t *tokenRequest) (*tokens, error) {
	kinds := &strategy{s.c.Secret}
	hash := func(token string) string { return kinds.hash(refreshKind, token) }
	for range maxRefreshes {
		latest, err := s.store.Latest(ctx, t.form.Get("refresh_token"), hash, kinds.successor)
		if err != nil {
			return nil, err
		}
		again := *t
		again.form = clone(t.form)
		again.form.Set("refresh_token", latest)
		answer, err := s.refresh(ctx, &again)
		if !errors.Is(err, oauthstore.ErrSuperseded) {
			return answer, err
		}
	}
	return nil, fault.New(fault.Unavailable, "", "The token is being used by too many at once")
}

// refresh takes the latest token of a line through the phases.
func (s *Service) refresh(ctx context.Context, t *tokenRequest) (*tokens, error) {
	if err := t.validate(ctx); err != nil {
		return nil, refreshRefusal(err)
	}
	if err := s.authorizeRefresh(ctx, t); err != nil {
		return nil, err
	}
	answer, err := s.issueTokens(ctx, t)
	if err != nil {
		return nil, refreshRefusal(err)
	}
	return answer, nil
}

// authorizeRefresh checks the grant, and takes away the scopes that the client does without.
func (s *Service) authorizeRefresh(ctx context.Context, t *tokenRequest) error {
	if err := s.authorizeTokens(ctx, t); err != nil {
		return err
	}
	return narrow(t.access, t.form.Get("scope"))
}

// narrow takes scopes away from the access token of a refresh, for as long as it
// lives; the refresh token keeps all (RFC 6749 section 6).
func narrow(request fosite.AccessRequester, text string) error {
	wanted := scopeSet(text)
	if len(wanted) == 0 {
		return nil
	}
	granted := request.GetGrantedScopes()
	for _, one := range wanted {
		if !wellFormed(one) || !covered(granted, one) {
			return refuse("invalid_scope", "The scope "+one+" was not granted.")
		}
	}
	request.(*fosite.AccessRequest).GrantedScope = wanted
	return nil
}

// refreshRefusal is refusal for a refresh: fosite reports a token that another request has
// just spent as a malformed request.
func refreshRefusal(err error) error {
	if errors.Is(err, oauthstore.ErrSuperseded) {
		return err
	}
	err = refusal(err)
	var p *problem
	if errors.As(err, &p) && p.code == "invalid_request" {
		return refuse("invalid_grant", p.description)
	}
	return err
}
