package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// metadata a client sends and gets back (RFC 7591 section 2).
type clientMetadata struct {
	RedirectURIs  []string `json:"redirect_uris"`
	Name          *string  `json:"client_name"`
	Method        string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Scope         string   `json:"scope"`
	Logouts       []string `json:"post_logout_redirect_uris,omitempty"` // OpenID Connect RP-Initiated Logout 1.0, section 3.1
	Algorithm     string   `json:"id_token_signed_response_alg"`
	URI           string   `json:"client_uri,omitempty"`
	Logo          string   `json:"logo_uri,omitempty"`
	Terms         string   `json:"tos_uri,omitempty"`
	Policy        string   `json:"policy_uri,omitempty"`
	Contacts      []string `json:"contacts,omitempty"`
	SoftwareID    string   `json:"software_id,omitempty"`
	Version       string   `json:"software_version,omitempty"`
}

// registered is the answer to a registration (RFC 7591 section 3.2.1).
type registered struct {
	ID            string `json:"client_id"`
	Secret        string `json:"client_secret"`
	IssuedAt      int64  `json:"client_id_issued_at"`
	SecretExpires int64  `json:"client_secret_expires_at"`
	clientMetadata
}

// authMethods are the names of RFC 7591 for those of the DocType.
var authMethods = map[string]string{
	"none": methodNone, "client_secret_basic": methodBasic, "client_secret_post": methodPost,
}

// register is the endpoint of dynamic registration (RFC 7591). Anybody may call it
// where the settings say so; what it makes has to be let in by a user like any
// other client, and never skips the question.
func (s *Service) register(w http.ResponseWriter, r *http.Request) error {
	set, err := s.settings(r.Context())
	if err != nil {
		return err
	}
	if !set.register {
		return (&problem{code: "not_found", description: "This site does not offer registration.", status: http.StatusNotFound}).write(w)
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return (&problem{code: "invalid_request", description: "Unsupported request method " + r.Method, status: http.StatusMethodNotAllowed}).write(w)
	}
	m, err := readMetadata(w, r)
	if err != nil {
		return fail(w, err)
	}
	if err := m.check(); err != nil {
		return fail(w, err)
	}
	m.Scope = s.later(m.Scope)
	if err := s.countNew(r); err != nil {
		return err
	}
	answer, err := s.insertClient(r, m)
	if fault.KindOf(err) == fault.Validation {
		return fail(w, refuse("invalid_client_metadata", fault.From(err).Message))
	}
	if err != nil {
		return err
	}
	return sendJSON(w, http.StatusCreated, answer)
}

func readMetadata(w http.ResponseWriter, r *http.Request) (*clientMetadata, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, refuse("invalid_client_metadata", "The body is not JSON (application/json).")
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	m := &clientMetadata{}
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || json.Unmarshal(body, m) != nil {
		return nil, refuse("invalid_client_metadata", "The body is not a JSON object of client metadata.")
	}
	return m, nil
}

// The most of what is stored of a client that anybody may register.
const (
	maxURIs     = 20
	maxContacts = 10
	maxName     = 140
)

// check refuses metadata, and fills in what RFC 7591 section 2 says of what is
// left out.
func (m *clientMetadata) check() error {
	if len(m.RedirectURIs) == 0 || len(m.RedirectURIs) > maxURIs {
		return refuse("invalid_redirect_uri", "One to 20 redirect_uris are needed.")
	}
	if len(m.Logouts) > maxURIs {
		return refuse("invalid_client_metadata", "There are at most 20 post_logout_redirect_uris.")
	}
	for _, uri := range slices.Concat(m.RedirectURIs, m.Logouts) {
		reason := badRedirect(uri)
		if u, err := url.Parse(uri); reason == "" && (err != nil || u.Scheme == "http" && !loopback(u.Hostname()) || u.User != nil) {
			reason = "it has to begin with https, unless it leads to this device"
		}
		if reason != "" {
			return refuse("invalid_redirect_uri", "The redirect URI cannot be used: "+reason+".")
		}
	}
	bad := func(text string) error { return refuse("invalid_client_metadata", text) }
	if m.Name == nil || strings.TrimSpace(*m.Name) == "" {
		m.Name = nameless(m.RedirectURIs[0])
	}
	if *m.Name = strings.TrimSpace(*m.Name); len([]rune(*m.Name)) > maxName {
		return bad("A client_name has at most 140 characters.")
	}
	if m.Method == "" {
		m.Method = "client_secret_basic"
	}
	if authMethods[m.Method] == "" {
		return bad("The token_endpoint_auth_method is not offered.")
	}
	for _, grant := range m.GrantTypes {
		if grant != "authorization_code" && grant != "refresh_token" {
			return bad("The grant_types are authorization_code and refresh_token.")
		}
	}
	m.GrantTypes = []string{"authorization_code", "refresh_token"}
	if slices.ContainsFunc(m.ResponseTypes, func(t string) bool { return t != "code" }) {
		return bad("The only one of response_types is code.")
	}
	m.ResponseTypes = []string{"code"}
	if m.Algorithm == "" {
		m.Algorithm = rs256
	}
	if m.Algorithm != hs256 && m.Algorithm != rs256 {
		return bad("The id_token_signed_response_alg is HS256 or RS256.")
	}
	scopes := scopeSet(m.Scope)
	if len(scopes) == 0 {
		scopes = []string{openID} // who wants more of a stranger's client says so
	}
	for _, scope := range scopes {
		if !wellFormed(scope) || len(m.Scope) > maxURI {
			return bad("The scope is malformed.")
		}
	}
	m.Scope = strings.Join(scopes, " ")
	for _, uri := range []string{m.URI, m.Logo, m.Terms, m.Policy} {
		if u, err := url.Parse(uri); uri != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(uri) > maxURI) {
			return bad("A URI about the client is no address of a page.")
		}
	}
	if len(m.Contacts) > maxContacts || slices.ContainsFunc(append(m.Contacts, m.SoftwareID, m.Version), func(t string) bool {
		return len([]rune(t)) > maxName || strings.ContainsAny(t, "\x00\n")
	}) {
		return bad("There is too much about the client.")
	}
	return nil
}

// nameless is what a client is called that gives no name: where its answers go.
func nameless(redirect string) *string {
	name := redirect
	if u, err := url.Parse(redirect); err == nil {
		if name = u.Host; name == "" {
			name = u.Scheme
		}
	}
	name = string([]rune(name)[:min(len([]rune(name)), maxName)])
	return &name
}

// registeringKey marks the context of a registration.
type registeringKey struct{}

// insertClient makes the client, as the platform: the settings have said that
// anybody may.
func (s *Service) insertClient(r *http.Request, m *clientMetadata) (*registered, error) {
	values := map[string]any{
		"app_name": *m.Name, "redirect_uris": strings.Join(m.RedirectURIs, " "), "default_redirect_uri": m.RedirectURIs[0],
		"scopes": m.Scope, "token_endpoint_auth_method": authMethods[m.Method], "registered": true,
		"client_uri": m.URI, "logo_uri": m.Logo, "tos_uri": m.Terms, "policy_uri": m.Policy,
		"contacts": strings.Join(m.Contacts, "\n"), "software_id": m.SoftwareID, "software_version": m.Version,
		"id_token_signed_response_alg": m.Algorithm, "post_logout_redirect_uris": strings.Join(m.Logouts, " "),
	}
	var answer *registered
	ctx := context.WithValue(r.Context(), registeringKey{}, true)
	err := s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := s.c.Documents().As(identity.Root(), tx).Insert(ctx, clientName, values)
		if err != nil {
			return err
		}
		act := auth.Activity{Operation: "OAuth Client", Client: doc.Name(), Subject: "An application registered itself: " + *m.Name}
		if err := s.c.Auth.Record(ctx, tx, act); err != nil {
			return err
		}
		secret, err := s.unseal(doc)
		answer = &registered{ID: doc.Name(), Secret: secret, IssuedAt: s.c.Now().Truncate(time.Second).Unix(), clientMetadata: *m}
		return err
	})
	return answer, err
}
