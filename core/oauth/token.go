package oauth

import (
	"context"
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
	Expires int64  `json:"expires_in"` // in seconds
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

// exchange finds the grant, which has a file of its own, and who asks. A grant goes
// through three phases more: validate what was sent, authorize who stands behind it,
// issue the tokens. Up to the last one nothing is spent.
func (s *Service) exchange(r *http.Request, form url.Values) (*tokens, error) {
	var parameter string // what is exchanged
	var grant func(context.Context, *tokenRequest) (*tokens, error)
	switch form.Get("grant_type") {
	case "authorization_code":
		parameter, grant = "code", s.phases(validateCode)
	case "refresh_token":
		parameter, grant = "refresh_token", s.exchangeRefreshToken
	case oauthstore.ClientCredentials:
		grant = s.phases(s.validateService)
	case oauthstore.DeviceCode:
		parameter, grant = "device_code", s.phases(s.validateDevice)
	default:
		return nil, refuse("unsupported_grant_type", "The grant_type is authorization_code, refresh_token, client_credentials or that of a device.")
	}
	if parameter != "" && form.Get(parameter) == "" {
		return nil, refuse("invalid_request", "Missing "+parameter+" parameter.")
	}
	client, err := s.authenticateClient(r, form)
	if err != nil {
		return nil, err
	}
	return grant(r.Context(), &tokenRequest{form: form, issuer: s.c.Base(r), client: client, provider: s.provider(client)})
}

// phases is a grant that goes through the three of them once. validate is its own; what
// it returns is answered as it is.
func (s *Service) phases(validate func(context.Context, *tokenRequest) error) func(context.Context, *tokenRequest) (*tokens, error) {
	return func(ctx context.Context, t *tokenRequest) (*tokens, error) {
		if err := validate(ctx, t); err != nil {
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
}

// tokenRequest is one request to the token endpoint on its way through the phases.
type tokenRequest struct {
	form   url.Values
	issuer string  // the site, as this request reached it
	client *client // authenticated

	provider *fosite.Fosite
	access   fosite.AccessRequester // from validate on
}

// session is what is known of the grant, from validate on.
func (t *tokenRequest) session() *oauthstore.Session {
	return t.access.GetSession().(*oauthstore.Session)
}

// validate has fosite read what the code or the refresh token stands for. An error is
// fosite's.
func (t *tokenRequest) validate(ctx context.Context) (err error) {
	session := oauthstore.NewSession("")
	session.Issuer = t.issuer
	t.access, err = t.provider.NewAccessRequest(ctx, &http.Request{
		Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}, Form: t.form, PostForm: t.form,
	}, session)
	return err
}

// authorizeTokens checks what both grants have in common: the user, the client and the site may have changed
// since the user agreed. It checks all that an ID token needs, too: once a code is
// spent, the ID token must not fail any more.
func (s *Service) authorizeTokens(ctx context.Context, t *tokenRequest) error {
	session := t.session()
	caller, err := s.c.Auth.Caller(ctx, session.Subject)
	if fault.KindOf(err) == fault.Authentication {
		return refuse("invalid_grant", "The user is gone.")
	}
	if err != nil {
		return err
	}
	if !t.client.admits(caller) {
		return refuse("invalid_grant", "The user may not use this application any more.")
	}
	if err := checkTargets(t.form["resource"], session.Resources, t.issuer); err != nil {
		return err
	}
	session.Targets = t.form["resource"]
	if !allCovered(t.client.scopes, session.Scopes) {
		return refuse("invalid_grant", "The client may not have these scopes any more.")
	}
	if slices.Contains(session.Scopes, openID) {
		if _, err := s.profile(ctx, session.Subject); err != nil {
			return err
		}
		if t.client.algorithm == rs256 {
			_, err = s.signingKey(ctx)
		}
	}
	return err
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

// issueTokens spends what was sent and makes the tokens. An error of fosite's is
// returned as it is.
func (s *Service) issueTokens(ctx context.Context, t *tokenRequest) (*tokens, error) {
	response, err := t.provider.NewAccessResponse(ctx, t.access)
	if err != nil {
		return nil, err
	}
	lifetimes, err := s.lifetimes(ctx)
	if err != nil {
		return nil, err
	}
	answer := &tokens{
		Access: response.GetAccessToken(), Expires: int64(lifetimes.Access / time.Second), Type: "Bearer",
		Scope: strings.Join(t.access.GetGrantedScopes(), " "),
	}
	answer.Refresh, _ = response.GetExtra("refresh_token").(string)
	answer.ID, _ = response.GetExtra("id_token").(string)
	return answer, nil
}

// refusal gives an error of fosite the name that RFC 6749 section 5.2 has for it.
func refusal(err error) error {
	p, own := problemOf(err)
	if own != nil {
		return own
	}
	return p
}
