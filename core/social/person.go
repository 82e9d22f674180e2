package social

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"armature/core/egress/endpoint"
	"armature/core/fault"
)

// person is what a provider says of whoever came back.
type person struct {
	issuer  string
	subject string
	account string // what they are called there, for people; may be empty
	email   string // may be empty
	// verified is whether the provider says that the address is theirs; vouched, whether
	// it is the one who can say so.
	verified bool
	vouched  bool

	name, given, family string
	amr                 []string
	acr                 string
	claims              map[string]any // signed, or of the endpoint userinfo
}

// claims are those of an ID token, or of userinfo, that count here (OpenID Connect Core
// 1.0, sections 2 and 5.1).
type claims struct {
	Party    string   `json:"azp"`
	Email    string   `json:"email"`
	Verified flag     `json:"email_verified"`
	Name     string   `json:"name"`
	Given    string   `json:"given_name"`
	Family   string   `json:"family_name"`
	Called   string   `json:"preferred_username"`
	AMR      []string `json:"amr"`
	ACR      string   `json:"acr"`

	Hosted  string `json:"hd"`       // Google: the domain whose account it is
	Tenant  string `json:"tid"`      // Microsoft
	Checked flag   `json:"xms_edov"` // Microsoft: the owner of the address's domain has been checked
}

// flag is a claim that some write as a text or a number.
type flag bool

// UnmarshalJSON takes true, "true", 1 and "1" for true, and everything else for false.
func (f *flag) UnmarshalJSON(text []byte) error {
	word := strings.Trim(string(text), `"`)
	*f = word == "true" || word == "1"
	return nil
}

// person finds out who has come back with a token.
func (s *Service) person(ctx context.Context, k *key, p *provider, token *oauth2.Token, nonce string) (*person, error) {
	if k.kind == gitHub {
		return s.gitHubPerson(ctx, k, p, token.AccessToken)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, fault.New(fault.Unavailable, "", "%s gave no ID token", k.name)
	}
	signed, c, err := s.verify(ctx, k, p, raw, token.AccessToken, nonce)
	if err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The ID token of %s is not valid", k.name)
	}
	who := &person{
		issuer: signed.Issuer, subject: signed.Subject, amr: c.AMR, acr: c.ACR, claims: map[string]any{},
	}
	if err := signed.Claims(&who.claims); err != nil {
		return nil, endpoint.Failure(err, "The ID token of %s cannot be read", k.name)
	}
	if p.userinfo != "" && (c.Email == "" || k.rolesClaim != "" && lookUp(who.claims, k.rolesClaim) == nil) {
		if err := s.addUserinfo(ctx, k, p, token.AccessToken, who, c); err != nil {
			return nil, err
		}
	}
	who.email, who.verified = c.Email, bool(c.Verified)
	who.name, who.given, who.family = c.Name, c.Given, c.Family
	who.account = c.Called
	who.vouched = who.verified
	switch k.kind {
	case google:
		// Google answers for its own addresses alone: others were checked once, when the
		// account was made.
		who.vouched = who.verified && (of([]string{"gmail.com"}, c.Email) || c.Hosted != "" && of([]string{strings.ToLower(c.Hosted)}, c.Email))
	case microsoft:
		// Any tenant may write any address into its users' accounts.
		who.verified = c.Email != "" && bool(c.Checked)
		who.vouched = who.verified
	}
	return who, nil
}

// verify checks an ID token: signature, issuer, audience and time by the library, the rest
// here (OpenID Connect Core 1.0, section 3.1.3.7).
func (s *Service) verify(ctx context.Context, k *key, p *provider, raw, access, nonce string) (*oidc.IDToken, *claims, error) {
	signed, err := oidc.NewVerifier(p.issuer, p.keys, &oidc.Config{
		ClientID: k.clientID, SupportedSigningAlgs: p.algorithms, Now: s.c.Now, SkipIssuerCheck: p.pattern != nil,
	}).Verify(ctx, raw)
	if err != nil {
		return nil, nil, err
	}
	c := &claims{}
	if err := signed.Claims(c); err != nil {
		return nil, nil, err
	}
	switch {
	case signed.Subject == "" || len(signed.Subject) > 255:
		return nil, nil, fmt.Errorf("it has no subject")
	case signed.Nonce == "" || signed.Nonce != nonce:
		return nil, nil, fmt.Errorf("it was made for another login")
	case len(signed.Audience) > 1 && c.Party == "", c.Party != "" && c.Party != k.clientID:
		return nil, nil, fmt.Errorf("it is for another party")
	case signed.AccessTokenHash != "" && signed.VerifyAccessToken(access) != nil:
		return nil, nil, fmt.Errorf("it belongs to another access token")
	}
	if p.pattern != nil {
		return signed, c, microsoftTenant(k, p, signed.Issuer, c.Tenant)
	}
	return signed, c, nil
}

// microsoftTenant checks that a token is issued by the tenant that it names, and that it is
// one whose people may come by the key.
func microsoftTenant(k *key, p *provider, issuer, tenant string) error {
	switch {
	case !p.pattern.MatchString(issuer) || issuer != k.base+"/"+tenant+"/v2.0":
		return fmt.Errorf("it was issued by %q, which is no tenant of the key's", issuer)
	case strings.EqualFold(k.tenant, "organizations") && tenant == consumerTenant:
		return fmt.Errorf("it is of a person's own account, and the key is for organizations")
	}
	return nil
}

// addUserinfo adds what userinfo says beside the ID token. The signed token decides who it
// is and how the login was made: the answer counts for the same subject alone, and adds
// what the token leaves out.
func (s *Service) addUserinfo(ctx context.Context, k *key, p *provider, access string, who *person, c *claims) error {
	var text json.RawMessage
	if err := s.getJSON(ctx, p.userinfo, access, &text); err != nil {
		return err
	}
	var more claims
	said := map[string]any{}
	if json.Unmarshal(text, &more) != nil || json.Unmarshal(text, &said) != nil {
		return fault.New(fault.Unavailable, "", "%s says nothing of who it is that can be read", k.name)
	}
	if said["sub"] != who.subject { // OpenID Connect Core 1.0, section 5.3.2
		return fault.Invalid("", "%s speaks of two people at once", k.name)
	}
	if c.Email == "" {
		c.Email, c.Verified = more.Email, more.Verified
	}
	for _, one := range []struct{ to, from *string }{{&c.Name, &more.Name}, {&c.Given, &more.Given}, {&c.Family, &more.Family}, {&c.Called, &more.Called}} {
		if *one.to == "" {
			*one.to = *one.from
		}
	}
	for name, value := range said {
		if _, signed := who.claims[name]; !signed {
			who.claims[name] = value
		}
	}
	return nil
}

// lookUp finds a claim by its name; where there is none of it, by the names on the way to
// it with dots between. nil: there is none.
func lookUp(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, nested := strings.Cut(name, ".")
	if inner, ok := claims[first].(map[string]any); ok && nested {
		return lookUp(inner, rest)
	}
	return nil
}

// granted are the roles that a key's mapping gives for the claim, each once.
func (k *key) granted(who *person) (roles []string) {
	var values []string
	switch v := lookUp(who.claims, k.rolesClaim).(type) {
	case string:
		values = []string{v}
	case bool:
		values = []string{fmt.Sprint(v)}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				values = append(values, text)
			}
		}
	}
	for _, m := range k.roles {
		if (m.value == anyValue || slices.Contains(values, m.value)) && !slices.Contains(roles, m.role) {
			roles = append(roles, m.role)
		}
	}
	return roles
}

// twoShown reports whether the provider says, in words that the key's rule takes, that a
// second factor was shown there. Only what it has signed counts.
func (k *key) twoShown(who *person) bool {
	return slices.ContainsFunc(k.factor, func(rule string) bool {
		if value, ok := strings.CutPrefix(rule, "amr:"); ok {
			return slices.Contains(who.amr, value)
		}
		value, ok := strings.CutPrefix(rule, "acr:")
		return ok && value == who.acr
	})
}

// classes are the acr values that the provider is asked for, so that it asks for a second
// factor.
func (k *key) classes() string {
	var list []string
	for _, rule := range k.factor {
		if value, ok := strings.CutPrefix(rule, "acr:"); ok {
			list = append(list, value)
		}
	}
	return strings.Join(list, " ")
}
