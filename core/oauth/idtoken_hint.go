package oauth

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"armature/core/auth"
)

// askedAs reports whether who is logged in is the user of the request's
// id_token_hint (OpenID Connect Core section 3.1.2.1), or there is none. A hint may
// be past its life: it says who was meant, and lets nobody in. Errors:
// invalid_request for one that this site has not made for the client.
func (s *Service) askedAs(ctx context.Context, a *authorization, browser *auth.Browser) (bool, error) {
	if a.hint == "" {
		return true, nil
	}
	subject, err := s.hinted(ctx, a)
	if err != nil {
		return false, err
	}
	user, err := s.profile(ctx, browser.Caller.User)
	if err != nil {
		return false, err
	}
	return subject == user.Subject, nil
}

var errHint = refuse("invalid_request", "The id_token_hint is not an ID token of this client.")

// hinted is the subject of a hint whose signature is ours. Which algorithm it has
// to be is decided by the client, never by the token.
func (s *Service) hinted(ctx context.Context, a *authorization) (string, error) {
	parts := strings.Split(a.hint, ".")
	if len(parts) != 3 {
		return "", errHint
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return "", errHint
		}
	}
	signed := []byte(parts[0] + "." + parts[1])
	if a.client.algorithm == rs256 {
		keys, err := s.keys(ctx)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(signed)
		err = errors.New("no key")
		for _, k := range keys {
			if err = rsa.VerifyPKCS1v15(&k.private.PublicKey, crypto.SHA256, sum[:], raw[2]); err == nil {
				break
			}
		}
		if err != nil {
			return "", errHint
		}
	} else {
		mac := hmac.New(sha256.New, []byte(a.client.secret))
		mac.Write(signed)
		if !hmac.Equal(mac.Sum(nil), raw[2]) {
			return "", errHint
		}
	}
	var claims struct{ Sub, Aud string }
	if json.Unmarshal(raw[1], &claims) != nil || claims.Aud != a.client.id || claims.Sub == "" {
		return "", errHint
	}
	return claims.Sub, nil
}
