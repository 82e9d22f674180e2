package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/oauth/oauthstore"
)

// validateService is that of the client credentials grant: a program that has a user of
// its own gets an access token for it by showing its secret (RFC 6749 section 4.4). There
// is no refresh token: the secret gets the next one. Nobody logs in, so that there is
// nobody an ID token could be about.
func (s *Service) validateService(ctx context.Context, t *tokenRequest) error {
	if t.client.service == "" || t.client.IsPublic() {
		return refuse("unauthorized_client", "The client may not use this grant_type.")
	}
	scopes := scopeSet(t.form.Get("scope"))
	if len(scopes) == 0 {
		scopes = slices.DeleteFunc(slices.Clone(t.client.usual), func(one string) bool { return one == openID })
	}
	for _, one := range scopes {
		if !wellFormed(one) || one == openID || !covered(t.client.scopes, one) {
			return refuse("invalid_scope", "The client may not ask for the scope "+one+".")
		}
	}
	if len(scopes) == 0 {
		return refuse("invalid_scope", "The client has no scope for itself.")
	}
	asked := &authorization{}
	if err := checkResources(asked, t.form["resource"], t.issuer); err != nil {
		return err
	}
	t.form = clone(t.form)
	t.form.Set("scope", strings.Join(scopes, " "))
	if err := t.validate(ctx); err != nil {
		return refusal(err)
	}
	session := t.session()
	*session = *oauthstore.NewSession(t.client.service)
	session.Issuer, session.Begins, session.GrantType = t.issuer, true, oauthstore.ClientCredentials
	session.Scopes, session.Resources = scopes, asked.resources
	t.access.SetID(newID())
	t.access.(*fosite.AccessRequest).GrantedScope = scopes
	return nil
}

// checkServiceUser refuses a user of the client's own who is a person's: whoever has
// the client's secret would be that person.
func (s *Service) checkServiceUser(ctx context.Context, tx document.Tx, name string) error {
	sc := s.c.Catalog.Schema()
	dt, err := sc.Platform("User")
	if err != nil {
		return err
	}
	user, err := tx.Get(ctx, sc, dt, name, false)
	if fault.KindOf(err) == fault.NotFound {
		return nil // said by the check of links
	}
	if err == nil && !auth.IsService(user) {
		err = fault.Invalid("", "User %s is a person's: a client's own user is of the type %s", name, auth.ServiceType)
	}
	return err
}
