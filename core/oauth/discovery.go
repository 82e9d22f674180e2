package oauth

import (
	"context"
	"net/http"

	"armature/core/oauth/oauthstore"
)

const (
	keysPath     = "/.well-known/jwks.json"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// metadata answers with a document that anybody may read. A nil document is one that the settings keep back.
func (s *Service) metadata(build func(ctx context.Context, base string) (any, error)) Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			return (&problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed}).write(w)
		}
		doc, err := build(r.Context(), s.c.Base(r))
		if err != nil {
			return err
		}
		if doc == nil {
			return (&problem{code: "not_found", description: "This site does not publish this document.", status: http.StatusNotFound}).write(w)
		}
		return sendJSON(w, http.StatusOK, doc)
	}
}

// serverMetadata is RFC 8414's document; what OpenID Connect adds is in
// openidConfiguration.
type serverMetadata struct {
	Issuer               string   `json:"issuer"`
	Authorization        string   `json:"authorization_endpoint"`
	Token                string   `json:"token_endpoint"`
	Userinfo             string   `json:"userinfo_endpoint"`
	Revocation           string   `json:"revocation_endpoint"`
	Introspection        string   `json:"introspection_endpoint"`
	Registration         string   `json:"registration_endpoint,omitempty"`
	Device               string   `json:"device_authorization_endpoint"`
	Keys                 string   `json:"jwks_uri"`
	ResponseTypes        []string `json:"response_types_supported"`
	ResponseModes        []string `json:"response_modes_supported"`
	GrantTypes           []string `json:"grant_types_supported"`
	AuthMethods          []string `json:"token_endpoint_auth_methods_supported"`
	RevocationMethods    []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionMethods []string `json:"introspection_endpoint_auth_methods_supported"`
	Challenges           []string `json:"code_challenge_methods_supported"`
	Scopes               []string `json:"scopes_supported"`
	Documentation        string   `json:"service_documentation,omitempty"`
	IssuerInAnswers      bool     `json:"authorization_response_iss_parameter_supported"`
	ClientAddresses      bool     `json:"client_id_metadata_document_supported"`
	SubjectTypes         []string `json:"subject_types_supported"`
	Algorithms           []string `json:"id_token_signing_alg_values_supported"`
	*openidMetadata
}

// openidMetadata is what OpenID Connect Discovery section 3 adds.
type openidMetadata struct {
	EndSession          string   `json:"end_session_endpoint"` // OpenID Connect RP-Initiated Logout 1.0, section 2.1
	Claims              []string `json:"claims_supported"`
	Prompts             []string `json:"prompt_values_supported"`
	Classes             []string `json:"acr_values_supported"`
	ClaimsParameter     bool     `json:"claims_parameter_supported"`
	RequestParameter    bool     `json:"request_parameter_supported"`
	RequestURIParameter bool     `json:"request_uri_parameter_supported"`
}

func (s *Service) describe(set *settings, base string) *serverMetadata {
	at := func(name string) string { return base + "/api/method/" + Prefix + name }
	introspection := []string{"client_secret_basic", "client_secret_post"}
	if set.openIntrospection {
		introspection = append(introspection, "none")
	}
	m := &serverMetadata{
		Issuer: base, Authorization: at("authorize"), Token: at("get_token"), Userinfo: at("openid_profile"),
		Device: at("device_authorization"), Revocation: at("revoke_token"), Introspection: at("introspect_token"), Keys: base + keysPath,
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes:  []string{"authorization_code", "refresh_token", oauthstore.ClientCredentials, oauthstore.DeviceCode},
		AuthMethods: []string{"none", "client_secret_basic", "client_secret_post"},
		// Whoever has a token may end it.
		RevocationMethods: []string{"none", "client_secret_basic", "client_secret_post"}, IntrospectionMethods: introspection,
		Challenges: []string{"S256"}, // plain is accepted and not advertised (SPEC: PKCE)
		Scopes:     set.scopes, Documentation: set.resource[1], IssuerInAnswers: true, ClientAddresses: set.addresses,
		SubjectTypes: []string{"public"}, Algorithms: []string{hs256, rs256},
	}
	if len(m.Scopes) == 0 {
		m.Scopes = []string{"all", openID}
	}
	if set.register {
		m.Registration = at("register_client")
	}
	return m
}

func (s *Service) serverMetadata(ctx context.Context, base string) (any, error) {
	set, err := s.settings(ctx)
	if err != nil || !set.showServer {
		return nil, err
	}
	return s.describe(set, base), nil
}

func (s *Service) openidConfiguration(ctx context.Context, base string) (any, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	m := s.describe(set, base)
	m.openidMetadata = &openidMetadata{
		EndSession: base + "/api/method/" + Prefix + "end_session",
		Claims: []string{"aud", "iss", "sub", "iat", "exp", "at_hash", "nonce", "auth_time", "amr", "acr", "name", "given_name", "family_name",
			"email", "email_verified", "picture", "roles"},
		Prompts: []string{"none", "login", "consent", "select_account"},
		Classes: []string{twoFactors, oneFactor},
	}
	return m, nil
}

// resourceMetadata is RFC 9728's document.
func (s *Service) resourceMetadata(ctx context.Context, base string) (any, error) {
	set, err := s.settings(ctx)
	if err != nil || !set.showResource {
		return nil, err
	}
	return s.describeResource(set, base, "", s.describe(set, base).Scopes), nil
}

func (s *Service) describeResource(set *settings, base, path string, scopes []string) any {
	return struct {
		Resource      string   `json:"resource"`
		Servers       []string `json:"authorization_servers"`
		Methods       []string `json:"bearer_methods_supported"`
		Scopes        []string `json:"scopes_supported"`
		Name          string   `json:"resource_name,omitempty"`
		Documentation string   `json:"resource_documentation,omitempty"`
		Policy        string   `json:"resource_policy_uri,omitempty"`
		Terms         string   `json:"resource_tos_uri,omitempty"`
	}{
		base + path, []string{base}, []string{"header"}, scopes,
		set.resource[0], set.resource[1], set.resource[2], set.resource[3],
	}
}

// keySet is the public keys (RFC 7517 section 5), those that sign soon included.
func (s *Service) keySet(ctx context.Context, _ string) (any, error) {
	// Clients fetch the set before the first token, and some keep it for hours.
	if _, err := s.signingKey(ctx); err != nil {
		return nil, err
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return nil, err
	}
	set := struct {
		Keys []jwk `json:"keys"`
	}{[]jwk{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.public())
	}
	return set, nil
}

// ResourceMetadata is where a client that was refused learns whom to ask for a
// token (RFC 9728 section 5.1); empty when that is not published.
func (s *Service) ResourceMetadata(r *http.Request) string {
	set, err := s.settings(r.Context())
	if err != nil || !set.showResource {
		return ""
	}
	if p := s.part(r.URL.Path); p != nil {
		return s.c.Base(r) + resourcePath + p.Path
	}
	return s.c.Base(r) + resourcePath
}
