package oauth

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"

	"armature/core/oauth/oauthstore"
)

// The algorithms an ID token is signed with: the client's secret, or a key of the
// site whose public half is at jwks_uri.
const (
	hs256 = "HS256"
	rs256 = "RS256"
)

// idClaims is an ID token (SPEC: ID token).
type idClaims struct {
	Audience string `json:"aud"`
	Issuer   string `json:"iss"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	Hash     string `json:"at_hash,omitempty"`
	Nonce    string `json:"nonce,omitempty"`
	AuthTime int64  `json:"auth_time,omitempty"`

	Methods []string `json:"amr,omitempty"` // RFC 8176
	Class   string   `json:"acr,omitempty"`
	*profile
}

// idTokens makes ID tokens for fosite, which has put the hash of the access token
// into the session.
type idTokens struct{ s *Service }

var _ openid.OpenIDConnectTokenStrategy = idTokens{}

// GenerateIDToken makes an ID token that lives as long as the access token.
func (t idTokens) GenerateIDToken(ctx context.Context, lives time.Duration, r fosite.Requester) (string, error) {
	session, ok := r.GetSession().(*oauthstore.Session)
	client := clientOf(r.GetClient())
	if !ok || client == nil {
		return "", fmt.Errorf("ID token of %T for %T", r.GetSession(), r.GetClient())
	}
	user, err := t.s.profile(ctx, session.Subject)
	if err != nil {
		return "", err
	}
	now := t.s.c.Now().Unix()
	claims := idClaims{
		Audience: client.id, Issuer: session.Issuer, IssuedAt: now, Expires: now + int64(lives/time.Second),
		Hash: session.IDTokenClaims().AccessTokenHash, Nonce: session.Nonce, AuthTime: session.AuthTime,
		Methods: session.Methods, Class: classOf(session.Methods),
		profile: user.at(session.Issuer),
	}
	if client.algorithm == rs256 {
		key, err := t.s.signingKey(ctx)
		if err != nil {
			return "", err
		}
		return signRS256(key, claims)
	}
	return signHS256(client.secret, claims)
}

func signHS256(secret string, claims any) (string, error) {
	return sign(map[string]string{"typ": "JWT", "alg": hs256}, claims, func(text []byte) ([]byte, error) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(text)
		return mac.Sum(nil), nil
	})
}

func signRS256(k *key, claims any) (string, error) {
	return sign(map[string]string{"typ": "JWT", "alg": rs256, "kid": k.id}, claims, func(text []byte) ([]byte, error) {
		sum := sha256.Sum256(text)
		return rsa.SignPKCS1v15(rand.Reader, k.private, crypto.SHA256, sum[:])
	})
}

// sign makes a JWS in its compact form (RFC 7515 section 3.1).
func sign(header map[string]string, claims any, signature func([]byte) ([]byte, error)) (string, error) {
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding
	text := b64.AppendEncode(nil, head)
	text = append(text, '.')
	text = b64.AppendEncode(text, body)
	sum, err := signature(text)
	if err != nil {
		return "", err
	}
	text = append(text, '.')
	return string(b64.AppendEncode(text, sum)), nil
}
