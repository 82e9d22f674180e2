package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ory/fosite"
)

// authorization is a request for authorization that was found in order.
type authorization struct {
	client       *client
	redirect     string // where the answer goes
	redirectSent bool   // the client has named it
	state        *string
	scopes       []string
	resources    []string
	challenge    string
	method       string // of the challenge
	nonce        string
	prompt       []string
	maxAge       int64    // seconds since the login; -1: any
	classes      []string // acr_values: how the user is to have logged in, the best first
	hint         string   // an ID token of the user who is meant; empty: anybody
	loginAfter   int64    // the login has to be newer, Unix seconds; 0: any
}

// loginAfter is a parameter of ours: it goes with the request to the login page
// and back, and says from when on a login counts as the one that was asked for.
const loginAfter = "login_after"

// maxParameter bounds state and nonce, in bytes: they come back in a header and
// lie in the database.
const maxParameter = 8 << 10

// directError is a problem that must not be sent to the redirect URI, because the
// URI cannot be trusted.
type directError struct{ *problem }

func direct(code, description string) error { return directError{refuse(code, description)} }

// request checks the parameters of a request for authorization. A directError
// goes to the user; with any other *problem the authorization is filled as far as
// the answer needs it.
func (s *Service) request(r *http.Request, base string, q url.Values) (*authorization, error) {
	for name, values := range q {
		if len(values) > 1 && name != "resource" {
			return nil, direct("invalid_request", "Duplicate "+name+" parameter.")
		}
		for _, v := range append(values, name) {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, direct("invalid_request", "A parameter is not text.")
			}
		}
	}
	a := &authorization{maxAge: -1}
	if err := s.findClient(r, base, a, q); err != nil {
		return nil, err
	}
	if q.Has("state") {
		state := q.Get("state")
		if len(state) > maxParameter {
			return a, refuse("invalid_request", "The state is too long.")
		}
		a.state = &state
	}
	for _, check := range []func(*authorization, url.Values) error{checkResponse, checkScope, checkChallenge, checkOpenID} {
		if err := check(a, q); err != nil {
			return a, err
		}
	}
	return a, checkResources(a, q["resource"], base)
}

// findClient finds the client and where its answer goes. The comparison is of the
// text as it came, before anybody parses it: fosite would let other ports of a
// loopback address pass, and other spellings of the same address.
func (s *Service) findClient(r *http.Request, base string, a *authorization, q url.Values) error {
	if q.Get("client_id") == "" {
		return direct("invalid_request", "Missing client_id parameter.")
	}
	found, err := s.asking(r, base, q.Get("client_id"))
	if errors.Is(err, fosite.ErrNotFound) {
		return direct("invalid_request", "Invalid client_id parameter value.")
	}
	if err != nil {
		return err
	}
	a.client, a.redirect, a.redirectSent = found, q.Get("redirect_uri"), q.Has("redirect_uri")
	if !a.redirectSent || a.redirect == "" {
		if a.redirectSent = false; found.fallback == "" {
			return direct("invalid_request", "Missing redirect URI.")
		}
		a.redirect = found.fallback
		return nil
	}
	if !found.answersAt(a.redirect) {
		return direct("invalid_request", "Mismatching redirect URI.")
	}
	return nil
}

func checkResponse(a *authorization, q url.Values) error {
	switch {
	case q.Has("request"):
		return refuse("request_not_supported", "Request objects are not supported.")
	case q.Has("request_uri"):
		return refuse("request_uri_not_supported", "Request objects are not supported.")
	case q.Has("registration"):
		return refuse("registration_not_supported", "The registration parameter is not supported.")
	case q.Get("response_type") == "":
		return refuse("invalid_request", "Missing response_type parameter.")
	case q.Get("response_type") != "code":
		return refuse("unsupported_response_type", "The only response_type is code.")
	case !a.client.codeFlow:
		return refuse("unauthorized_client", "The client may not use this response_type.")
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return refuse("invalid_request", "The only response_mode is query.")
	}
	return nil
}

func checkScope(a *authorization, q url.Values) error {
	a.scopes = scopeSet(q.Get("scope"))
	if len(a.scopes) == 0 {
		a.scopes = a.client.usual
	}
	a.scopes = a.client.withoutClaims(a.scopes)
	for _, one := range a.scopes {
		if !wellFormed(one) || !covered(a.client.scopes, one) {
			return refuse("invalid_scope", "The client may not ask for the scope "+one+".")
		}
	}
	return nil
}

// checkChallenge is RFC 7636 section 4.4. A client without a secret has to use
// PKCE; one that may show its secret decides at the token endpoint.
func checkChallenge(a *authorization, q url.Values) error {
	a.challenge, a.method = q.Get("code_challenge"), q.Get("code_challenge_method")
	if a.challenge == "" {
		if a.method != "" || q.Has("code_challenge") {
			return refuse("invalid_request", "Missing code_challenge parameter.")
		}
		if a.client.method == methodNone {
			return refuse("invalid_request", "Code challenge required.")
		}
		return nil
	}
	switch a.method {
	case "":
		a.method = "plain"
	case "plain", "S256":
	default:
		return refuse("invalid_request", "Transform algorithm not supported.")
	}
	if n := len(a.challenge); n < 43 || n > 128 || a.method == "S256" && n != 43 || strings.ContainsFunc(a.challenge, reserved) {
		return refuse("invalid_request", "The code_challenge is malformed.")
	}
	return nil
}

// reserved reports whether a character may not be in a code challenge.
func reserved(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~", c)
}

// checkOpenID reads the parameters of OpenID Connect Core section 3.1.2.1.
func checkOpenID(a *authorization, q url.Values) error {
	if a.nonce = q.Get("nonce"); len(a.nonce) > maxParameter {
		return refuse("invalid_request", "The nonce is too long.")
	}
	if a.hint = q.Get("id_token_hint"); len(a.hint) > maxParameter {
		return refuse("invalid_request", "The id_token_hint is too long.")
	}
	a.prompt = strings.Fields(q.Get("prompt"))
	for _, p := range a.prompt {
		if !slices.Contains([]string{"none", "login", "consent", "select_account"}, p) {
			return refuse("invalid_request", "The prompt parameter is not understood.")
		}
	}
	if slices.Contains(a.prompt, "none") && len(a.prompt) > 1 {
		return refuse("invalid_request", "The prompt none stands alone.")
	}
	if text := q.Get("max_age"); text != "" {
		age, err := strconv.ParseInt(text, 10, 64)
		if err != nil || age < 0 {
			return refuse("invalid_request", "The max_age is not a number of seconds.")
		}
		a.maxAge = age
	}
	a.classes = strings.Fields(q.Get("acr_values"))
	a.loginAfter, _ = strconv.ParseInt(q.Get(loginAfter), 10, 64)
	return nil
}

// checkResources is RFC 8707 section 2. Tokens are for this site: a client may say
// so, or name a part of it, and no other server.
func checkResources(a *authorization, resources []string, base string) error {
	for _, resource := range resources {
		u, err := url.Parse(resource)
		if err != nil || !u.IsAbs() || strings.ContainsAny(resource, "# ") || len(resource) > maxURI {
			return refuse("invalid_target", "The resource is not an absolute URI without a fragment.")
		}
		if !strings.EqualFold(u.Scheme+"://"+u.Host, base) || u.User != nil {
			return refuse("invalid_target", "The resource is not one of this server.")
		}
		if !slices.Contains(a.resources, resource) {
			a.resources = append(a.resources, resource)
		}
	}
	return nil
}

// wants reports whether the client asked for a prompt.
func (a *authorization) wants(prompt string) bool { return slices.Contains(a.prompt, prompt) }

// answer is the redirect URI with an answer: the state as it came, and whose
// answer it is (RFC 9207).
func (a *authorization) answer(base string, parameters ...pair) string {
	if a.state != nil {
		parameters = append(parameters, pair{"state", *a.state})
	}
	return withParameters(a.redirect, append(parameters, pair{"iss", base}))
}
