package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/ory/fosite"
)

// credentials are what a request shows to be a client's (RFC 6749 section 2.3.1).
type credentials struct {
	id, secret string
	header     bool // they came as Basic
}

// readCredentials takes a client's credentials from a request. A request uses one
// way and not two.
func readCredentials(r *http.Request, form url.Values) (credentials, error) {
	c := credentials{id: form.Get("client_id"), secret: form.Get("client_secret")}
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return c, nil
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Basic") {
		return c, wrongClient(true)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return c, wrongClient(true)
	}
	id, secret, ok := strings.Cut(string(raw), ":")
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	if !ok || idErr != nil || secretErr != nil {
		return c, wrongClient(true)
	}
	if c.secret != "" || c.id != "" && c.id != id {
		return c, refuse("invalid_request", "The client authenticates in two ways.")
	}
	return credentials{id, secret, true}, nil
}

// wrongClient is the one answer to wrong credentials; who used the header is asked
// for it again (RFC 6749 section 5.2).
func wrongClient(header bool) error {
	p := refuse("invalid_client", "Client authentication failed.")
	if header {
		p.status = http.StatusUnauthorized
		p.header = http.Header{"Www-Authenticate": {`Basic realm="OAuth"`}}
	}
	return p
}

// authenticateClient finds out which client makes a request. One that shows a
// secret has to show the right one; only a public client may show none.
func (s *Service) authenticateClient(r *http.Request, form url.Values) (*client, error) {
	c, err := readCredentials(r, form)
	if err != nil {
		return nil, err
	}
	if c.id == "" {
		return nil, wrongClient(c.header)
	}
	ctx := r.Context()
	found, err := s.client(ctx, c.id)
	unknown := errors.Is(err, fosite.ErrNotFound)
	if err != nil && !unknown {
		return nil, err
	}
	if c.secret == "" {
		if unknown || !found.IsPublic() {
			return nil, wrongClient(c.header)
		}
		return found, nil
	}
	name := "" // what nobody is called is not counted by name: it would fill the table
	if !unknown {
		name = found.id
	}
	err = s.c.Auth.Guess(ctx, "oauth client", name, s.c.Remote(r), func() error {
		if unknown || !equal(found.secret, c.secret) {
			return wrongClient(c.header)
		}
		return nil
	}, func(err error) bool { _, wrong := err.(*problem); return wrong })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// equal compares in constant time, and does not tell the length either.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
