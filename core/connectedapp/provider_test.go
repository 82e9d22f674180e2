package connectedapp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	clientID     = "armature client"
	clientSecret = "the client's secret, of some length"
)

// provider is an authorization server on loopback which does as it is told.
type provider struct {
	t   *testing.T
	srv *httptest.Server

	mu       sync.Mutex
	codes    map[string]url.Values // what was asked for, by code
	refresh  map[string]bool       // refresh tokens that count
	access   map[string]bool       // access tokens that count
	made     int
	lifetime int                                               // seconds, of access tokens
	answer   func(w http.ResponseWriter, form url.Values) bool // has answered a token request itself
	asked    func()                                            // hears of token requests
	inForm   bool                                              // clients show their secret in the form, not as Basic
	discover map[string]any                                    // members of the discovery document, beside the usual

	refreshes atomic.Int64
	revoked   atomic.Int64
	granted   atomic.Int64 // client credentials
}

func newProvider(t *testing.T) *provider {
	p := &provider{
		t: t, codes: map[string]url.Values{}, refresh: map[string]bool{}, access: map[string]bool{}, lifetime: 3600,
		discover: map[string]any{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	mux.HandleFunc("/api/{what...}", p.api)
	p.srv = httptest.NewServer(mux)
	t.Cleanup(p.srv.Close)
	return p
}

func (p *provider) host() string { return strings.TrimPrefix(p.srv.URL, "http://") }

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc := map[string]any{
		"issuer": p.srv.URL, "authorization_endpoint": p.srv.URL + "/authorize", "token_endpoint": p.srv.URL + "/token",
		"revocation_endpoint": p.srv.URL + "/revoke", "jwks_uri": p.srv.URL + "/jwks",
		"authorization_response_iss_parameter_supported": true,
	}
	for key, value := range p.discover {
		doc[key] = value
	}
	writeJSON(w, http.StatusOK, doc)
}

// authorize is a user who says yes to everything.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p.mu.Lock()
	p.made++
	code := fmt.Sprintf("code-%d", p.made)
	p.codes[code] = q
	p.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{
		"code": {code}, "state": {q.Get("state")}, "iss": {p.srv.URL},
	}.Encode(), http.StatusFound)
}

func (p *provider) authenticated(w http.ResponseWriter, r *http.Request) bool {
	id, secret, ok := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	p.mu.Lock()
	inForm := p.inForm
	p.mu.Unlock()
	if inForm {
		id, secret, ok = r.PostFormValue("client_id"), r.PostFormValue("client_secret"), !ok
	}
	if ok && id == clientID && secret == clientSecret {
		return true
	}
	writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	return false
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	asked := p.asked
	p.mu.Unlock()
	if asked != nil {
		asked()
	}
	if !p.authenticated(w, r) {
		return
	}
	if err := r.ParseForm(); err != nil {
		p.t.Error(err)
	}
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer != nil && answer(w, r.PostForm) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if asked == nil || asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || asked.Get("code_challenge_method") != "S256" ||
			asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
	case "refresh_token":
		p.refreshes.Add(1)
		if !p.refresh[r.PostForm.Get("refresh_token")] {
			writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "no such token"})
			return
		}
		delete(p.refresh, r.PostForm.Get("refresh_token"))
	case "client_credentials":
		p.granted.Add(1)
	default:
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type"})
		return
	}
	p.made++
	access := fmt.Sprintf("access-%d", p.made)
	p.access[access] = true
	out := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": p.lifetime, "scope": "read write"}
	if r.PostForm.Get("grant_type") != "client_credentials" {
		refresh := fmt.Sprintf("refresh-%d", p.made)
		p.refresh[refresh] = true
		out["refresh_token"] = refresh
	}
	writeJSON(w, http.StatusOK, out)
}

func (p *provider) revoke(w http.ResponseWriter, r *http.Request) {
	if !p.authenticated(w, r) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refresh[r.PostFormValue("token")] {
		p.revoked.Add(1)
		delete(p.refresh, r.PostFormValue("token"))
	}
}

// api tells who asks with a token that counts.
func (p *provider) api(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	good := p.access[token]
	p.mu.Unlock()
	if !good {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"path": r.URL.Path, "method": r.Method})
}

func (p *provider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
