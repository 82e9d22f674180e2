package oauth

import "context"

// validateCode is that of the authorization code grant: an authenticated client exchanges
// the code that a user's consent gave it (RFC 6749 section 4.1.3). It checks the code, its
// proof key and where its answer went: fosite looks only at a redirect URI that was sent
// to the authorization endpoint.
func validateCode(ctx context.Context, t *tokenRequest) error {
	if err := t.validate(ctx); err != nil {
		return refusal(err)
	}
	if sent := t.form.Get("redirect_uri"); sent != "" && sent != t.session().RedirectURI {
		return refuse("invalid_grant", "Mismatching redirect URI.")
	}
	return nil
}
