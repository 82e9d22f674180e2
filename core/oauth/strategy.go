package oauth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"

	"armature/core/site"
)

// strategy makes codes and tokens: 32 random bytes. What fosite calls a signature
// is their hash, keyed with the site's key and different for each kind, so that a
// token of one kind is never found as another, and the database alone allows no
// check. There is nothing else to validate: a token counts if its row does.
type strategy struct{ secret *site.Secret }

var _ oauth2.CoreStrategy = (*strategy)(nil)

const (
	codeKind    = "oauth code"
	accessKind  = "oauth access token"
	refreshKind = "oauth refresh token"

	deviceKind   = "oauth device code"
	userCodeKind = "oauth user code"
)

// maxToken is the longest text that is worth a look-up.
const maxToken = 200

func (s *strategy) hash(kind, token string) string {
	if token == "" || len(token) > maxToken {
		return "" // which no row is called
	}
	return hex.EncodeToString(s.secret.MAC(kind, token))
}

func (s *strategy) generate(kind string) (token, signature string, err error) {
	token = random()
	return token, s.hash(kind, token), nil
}

// random is 256 random bits in characters that need no encoding anywhere: some
// clients do not encode a secret before they send it as Basic credentials.
func random() string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// AccessTokenSignature is the name of an access token's row.
func (s *strategy) AccessTokenSignature(_ context.Context, token string) string {
	return s.hash(accessKind, token)
}

// GenerateAccessToken makes an access token.
func (s *strategy) GenerateAccessToken(context.Context, fosite.Requester) (token, signature string, err error) {
	return s.generate(accessKind)
}

// ValidateAccessToken has nothing to do.
func (s *strategy) ValidateAccessToken(context.Context, fosite.Requester, string) error { return nil }

// RefreshTokenSignature is the name of a refresh token's row.
func (s *strategy) RefreshTokenSignature(_ context.Context, token string) string {
	return s.hash(refreshKind, token)
}

// GenerateRefreshToken makes a refresh token: for a code a new one, and for a
// refresh token its successor.
func (s *strategy) GenerateRefreshToken(_ context.Context, r fosite.Requester) (token, signature string, err error) {
	form := r.GetRequestForm()
	if form.Get("grant_type") != "refresh_token" {
		return s.generate(refreshKind)
	}
	token = s.successor(form.Get("refresh_token"))
	return token, s.hash(refreshKind, token), nil
}

// successor is the refresh token that another one is exchanged for. It is made of
// it with the site's key: as random as it to everybody else, and the same however
// often and however many at once ask for it, without being kept anywhere.
func (s *strategy) successor(token string) string {
	return base64.RawURLEncoding.EncodeToString(s.secret.MAC("oauth refresh successor", token))
}

// ValidateRefreshToken has nothing to do.
func (s *strategy) ValidateRefreshToken(context.Context, fosite.Requester, string) error { return nil }

// AuthorizeCodeSignature is the name of a code's row.
func (s *strategy) AuthorizeCodeSignature(_ context.Context, token string) string {
	return s.hash(codeKind, token)
}

// GenerateAuthorizeCode makes a code.
func (s *strategy) GenerateAuthorizeCode(context.Context, fosite.Requester) (token, signature string, err error) {
	return s.generate(codeKind)
}

// ValidateAuthorizeCode has nothing to do.
func (s *strategy) ValidateAuthorizeCode(context.Context, fosite.Requester, string) error { return nil }
