package social_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	clientID     = "armature"
	clientSecret = "the secret of the site"
)

// provider is an OpenID provider whose every answer a test decides.
type provider struct {
	*httptest.Server
	key *rsa.PrivateKey
	now func() time.Time

	mu       sync.Mutex
	metadata map[string]any
	asked    url.Values     // of the last authorization request
	form     url.Values     // of the last token request
	claims   map[string]any // of the next ID token, over what is right
	userinfo map[string]any
	sign     func(claims map[string]any) string // nil: as it is right
	api      map[string]any                     // by path, of GitHub's
}

func newProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{now: now, key: key, metadata: map[string]any{}, claims: map[string]any{}, api: map[string]any{}}
	mux := http.NewServeMux()
	discovery := func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		m := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"userinfo_endpoint": p.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		}
		maps.Copy(m, p.metadata)
		send(w, m)
	}
	mux.HandleFunc("/.well-known/openid-configuration", discovery)
	mux.HandleFunc("/{tenant}/v2.0/.well-known/openid-configuration", discovery)
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		send(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/token", p.token)
	mux.HandleFunc("/login/oauth/access_token", p.token)
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer access" || p.userinfo == nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		send(w, p.userinfo)
	})
	mux.HandleFunc("/api/v3/", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer access" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		send(w, p.api[r.URL.Path])
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) host() string { return strings.TrimPrefix(p.URL, "http://") }

// token checks what RFC 7636 and RFC 6749 demand of the client, and answers.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.form = r.PostForm
	user, secret, basic := r.BasicAuth()
	if basic {
		user, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(secret)
	} else {
		user, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case user != clientID || secret != clientSecret:
		w.WriteHeader(http.StatusUnauthorized)
		send(w, map[string]any{"error": "invalid_client"})
	case r.PostForm.Get("code") != "good", r.PostForm.Get("redirect_uri") != p.asked.Get("redirect_uri"),
		p.asked.Get("code_challenge_method") != "S256", base64.RawURLEncoding.EncodeToString(sum[:]) != p.asked.Get("code_challenge"):
		w.WriteHeader(http.StatusBadRequest)
		send(w, map[string]any{"error": "invalid_grant", "error_description": "<b>no</b>"})
	default:
		now := p.now().Unix()
		claims := map[string]any{
			"iss": p.URL, "aud": clientID, "sub": "ada", "iat": now, "exp": now + 300, "nonce": p.asked.Get("nonce"),
			"email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace",
		}
		for name, value := range p.claims {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		sign := p.sign
		if sign == nil {
			sign = func(claims map[string]any) string { return p.rs256("one", claims) }
		}
		answer := map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 300}
		if text := sign(claims); text != "" {
			answer["id_token"] = text
		}
		send(w, answer)
	}
}

func (p *provider) rs256(kid string, claims map[string]any) string {
	text := unsigned(map[string]any{"alg": "RS256", "kid": kid}, claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// hs256 signs with a secret, as a provider of ours does not.
func hs256(secret string, claims map[string]any) string {
	text := unsigned(map[string]any{"alg": "HS256"}, claims)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// unsigned is the signed part of a JWS (RFC 7515 section 3.1).
func unsigned(parts ...map[string]any) string {
	var texts []string
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		texts = append(texts, base64.RawURLEncoding.EncodeToString(text))
	}
	return strings.Join(texts, ".")
}

// says has the next ID token say something else; pairs of a claim and its value, of which
// nil takes the claim away.
func (p *provider) says(pairs ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		p.claims[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
}

func (p *provider) change(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn()
}
