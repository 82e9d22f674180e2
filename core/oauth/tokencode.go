package oauth

import "context"

// exchangeCode is the authorization code grant: an authenticated client exchanges the
// code that a user's consent gave it (RFC 6749 section 4.1.3).
func (s *Service) exchangeCode(ctx context.Context, t *tokenRequest) (*tokens, error) {
	if err := t.validateCode(ctx); err != nil {
		return nil, err
	}
	if err := s.authorizeTokens(ctx, t); err != nil {
		return nil, err
	}
	answer, err := s.issueTokens(ctx, t)
	if err != nil {
		return nil, refusal(err)
	}
	return answer, nil
}

// validateCode checks the code, its proof key and where its answer went. fosite looks
// only at a redirect URI that was sent to the authorization endpoint.
func (t *tokenRequest) validateCode(ctx context.Context) error {
	if err := t.validate(ctx); err != nil {
		return refusal(err)
	}
	if sent := t.form.Get("redirect_uri"); sent != "" && sent != t.session().RedirectURI {
		return refuse("invalid_grant", "Mismatching redirect URI.")
	}
	return nil
}
