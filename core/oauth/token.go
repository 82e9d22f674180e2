package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ory/fosite"

	"armature/core/fault"
	"armature/core/oauth/oauthstore"
)

// tokens is the answer of the token endpoint (SPEC: OAuth token response).
type tokens struct {
	Access  string `json:"access_token"`
	Expires int64  `json:"expires_in"`
	Type    string `json:"token_type"`
	Scope   string `json:"scope"`
	Refresh string `json:"refresh_token,omitempty"`
	ID      string `json:"id_token,omitempty"`
}

// token is the token endpoint (RFC 6749 section 3.2).
func (s *Service) token(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return fail(w, err)
	}
	answer, err := s.exchange(r, form)
	if err != nil {
		return fail(w, err)
	}
	return sendJSON(w, http.StatusOK, answer)
}

// exchange turns a code or a refresh token into tokens.
func (s *Service) exchange(r *http.Request, form url.Values) (*tokens, error) {
	grant := form.Get("grant_type")
	switch grant {
	case "authorization_code":
		if form.Get("code") == "" {
			return nil, refuse("invalid_request", "Missing code parameter.")
		}
	case "refresh_token":
		if form.Get("refresh_token") == "" {
			return nil, refuse("invalid_request", "Missing refresh_token parameter.")
		}
	case "client_credentials":
		return nil, refuse("unauthorized_client", "The client may not use this grant_type.")
	default:
		return nil, refuse("unsupported_grant_type", "The grant_type is authorization_code or refresh_token.")
	}
	client, err := s.authenticateClient(r, form)
	if err != nil {
		return nil, err
	}
	ctx := context.WithValue(oauthstore.WithMemo(r.Context()), authenticatedKey{}, fosite.Client(client))
	if grant == "refresh_token" {
		return s.renew(ctx, r, form)
	}
	return s.issueTokens(ctx, r, form)
}

// renew is the refresh. While a token is handed out once more, another request may
// use it up; then there is a later one to hand out.
func (s *Service) renew(ctx context.Context, r *http.Request, form url.Values) (answer *tokens, err error) {
	kinds := &strategy{s.c.Secret}
	for range 5 {
		now := clone(form)
		latest, err := s.store.Latest(ctx, form.Get("refresh_token"), func(token string) string { return kinds.hash(refreshKind, token) }, kinds.successor)
		if err != nil {
			return nil, err
		}
		now.Set("refresh_token", latest)
		if answer, err = s.issueTokens(ctx, r, now); !errors.Is(err, oauthstore.ErrSuperseded) {
			return answer, err
		}
	}
	return nil, fault.New(fault.Unavailable, "", "The token is being used by too many at once")
}

// issueTokens has fosite exchange a code or a refresh token.
func (s *Service) issueTokens(ctx context.Context, r *http.Request, form url.Values) (*tokens, error) {
	grant := form.Get("grant_type")
	request, err := s.provider.NewAccessRequest(ctx, &http.Request{
		Method: http.MethodPost, URL: r.URL, Header: http.Header{}, Form: form, PostForm: form,
	}, oauthstore.NewSession(""))
	if err != nil {
		return nil, rephrase(grant, err)
	}
	ctx = context.WithValue(ctx, issuerKey{}, s.c.Base(r))
	if err := s.admit(ctx, request, form, grant); err != nil {
		return nil, err
	}
	response, err := s.provider.NewAccessResponse(ctx, request)
	if err != nil {
		return nil, rephrase(grant, err)
	}
	lifetimes, err := s.lifetimes(ctx)
	if err != nil {
		return nil, err
	}
	answer := &tokens{
		Access: response.GetAccessToken(), Expires: int64(lifetimes.Access / time.Second), Type: "Bearer",
		Scope: strings.Join(request.GetGrantedScopes(), " "),
	}
	answer.Refresh, _ = response.GetExtra("refresh_token").(string)
	answer.ID, _ = response.GetExtra("id_token").(string)
	return answer, nil
}

// rephrase gives a refusal of fosite the name that RFC 6749 section 5.2 has for it.
func rephrase(grant string, err error) error {
	if errors.Is(err, oauthstore.ErrSuperseded) {
		return err
	}
	p, own := problemOf(err)
	if own != nil {
		return own
	}
	// A refresh token that another request has just spent is reported as a
	// malformed request.
	if grant == "refresh_token" && p.code == "invalid_request" {
		p = refuse("invalid_grant", p.description)
	}
	return p
}

// admit checks what fosite does not, before anything is spent: once a code is, the
// ID token must not fail any more.
func (s *Service) admit(ctx context.Context, request fosite.AccessRequester, form url.Values, grant string) error {
	session, client := request.GetSession().(*oauthstore.Session), clientOf(request.GetClient())
	caller, err := s.c.Auth.Caller(ctx, session.Subject)
	if fault.KindOf(err) == fault.Authentication {
		return refuse("invalid_grant", "The user is gone.")
	}
	if err != nil {
		return err
	}
	if !client.admits(caller) {
		return refuse("invalid_grant", "The user may not use this application any more.")
	}
	base, _ := ctx.Value(issuerKey{}).(string)
	if err := checkTargets(form["resource"], session.Resources, base); err != nil {
		return err
	}
	if grant == "refresh_token" {
		if err := narrow(request, form.Get("scope")); err != nil {
			return err
		}
	} else if sent := form.Get("redirect_uri"); sent != "" && sent != session.RedirectURI {
		return refuse("invalid_grant", "Mismatching redirect URI.")
	}
	if !allCovered(client.scopes, session.Scopes) {
		return refuse("invalid_grant", "The client may not have these scopes any more.")
	}
	if slices.Contains(session.Scopes, openID) {
		if _, err := s.profile(ctx, session.Subject); err != nil {
			return err
		}
		if client.algorithm == rs256 {
			_, err = s.signingKey(ctx)
		}
	}
	return err
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

// checkTargets is RFC 8707 section 2.2: a token request names resources of the
// grant, or where the grant names none, any part of this site.
func checkTargets(wanted, granted []string, base string) error {
	if len(granted) == 0 {
		return checkResources(&authorization{}, wanted, base)
	}
	for _, resource := range wanted {
		if !slices.Contains(granted, resource) {
			return refuse("invalid_target", "The resource was not asked for at the authorization endpoint.")
		}
	}
	return nil
}
