package social

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/oauth2"

	"armature/core/egress/endpoint"
	"armature/core/fault"
)

// gitHubAt is GitHub, or a GitHub Enterprise Server, which keeps its API below its own
// address. It has no OpenID Connect for people: who somebody is, the API says.
func gitHubAt(base string) *provider {
	api := base + "/api/v3"
	if base == gitHubBase {
		api = gitHubAPI
	}
	return &provider{
		authorization: base + "/login/oauth/authorize", token: base + "/login/oauth/access_token",
		userinfo: api + "/user", emails: api + "/user/emails", style: oauth2.AuthStyleInParams,
	}
}

// gitHubPerson asks whose a token is. The number stays when somebody takes another name,
// and a name that is given up may be somebody else's tomorrow.
func (s *Service) gitHubPerson(ctx context.Context, k *key, p *provider, token string) (*person, error) {
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Name  string `json:"name"`
	}
	if err := s.getJSON(ctx, p.userinfo, token, &user); err != nil {
		return nil, err
	}
	if user.ID <= 0 {
		return nil, fault.New(fault.Unavailable, "", "%s did not say who it is", k.name)
	}
	var emails []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := s.getJSON(ctx, p.emails, token, &emails); err != nil {
		return nil, err
	}
	who := &person{issuer: k.base, subject: strconv.FormatInt(user.ID, 10), name: user.Name, account: user.Login, claims: map[string]any{}}
	for _, one := range emails {
		if one.Primary {
			who.email, who.verified = one.Email, one.Verified
		}
	}
	return who, nil
}

// getJSON asks an endpoint with an access token.
func (s *Service) getJSON(ctx context.Context, address, token string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "application/json")
	res, err := s.way.Client(false).Do(r)
	if err != nil {
		return endpoint.Failure(err, "%s could not be read", address)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answered %s", res.Status)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return endpoint.Failure(err, "%s could not be read", address)
	}
	return nil
}
