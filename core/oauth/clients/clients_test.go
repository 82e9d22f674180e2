// Package clients lets real OAuth clients loose on a running server: libraries from
// the Go module proxy and from npm. It is a module of its own, which imports nothing
// of the product, so that none of them is a dependency of it.
package clients

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"
)

const (
	password = "correct horse battery"
	callback = "http://127.0.0.1:8765/callback"
)

func TestClients(t *testing.T) {
	node := installed(t)
	binary := built(t)
	published := publish(t)
	databases := map[string]string{"SQLite": "", "PostgreSQL": os.Getenv("ARMATURE_TEST_POSTGRES")}
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			if name == "PostgreSQL" && database == "" {
				absent(t, "ARMATURE_TEST_POSTGRES names no database")
			}
			if database != "" {
				database = newDatabase(t, database)
			}
			s := serve(t, binary, database, published)
			t.Run("golang.org/x/oauth2 and go-oidc, RS256", func(t *testing.T) { goClient(t, s, "RS256", oauth2.AuthStyleAutoDetect) })
			t.Run("golang.org/x/oauth2, HS256, secret in the form", func(t *testing.T) { goClient(t, s, "HS256", oauth2.AuthStyleInParams) })
			id, secret := s.client(t, "HS256")
			for _, script := range []struct {
				name, file string
				env        []string
			}{
				{"openid-client, RS256", "openid-client.mjs", []string{"ALGORITHM=RS256"}},
				{"openid-client, HS256", "openid-client.mjs", []string{"ALGORITHM=HS256"}},
				{"oauth4webapi", "oauth4webapi.mjs", nil},
				{"Model Context Protocol SDK", "mcp.mjs", nil},
				{"an agent, SDK 1", "agents.mjs", []string{"LIBRARY=1"}},
				{"an agent, client 2", "agents.mjs", []string{"LIBRARY=2"}},
				{"an agent that describes itself, SDK 1", "agents.mjs", []string{"LIBRARY=1", "METADATA=" + published.url}},
				{"an agent that describes itself, client 2", "agents.mjs", []string{"LIBRARY=2", "METADATA=" + published.url}},
			} {
				t.Run(script.name, func(t *testing.T) {
					if node == "" {
						absent(t, "there is no node or npm")
					}
					ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
					defer stop()
					cmd := exec.CommandContext(ctx, node, script.file)
					cmd.Env = append(os.Environ(), "ORIGIN="+s.origin, "USER=Administrator", "PASSWORD="+password,
						"CLIENT_ID="+id, "CLIENT_SECRET="+secret, "KEY="+s.authorization)
					cmd.Env = append(cmd.Env, script.env...)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
				})
			}
		})
	}
}

// absent skips a test whose means are missing, except on a build machine, where
// everything must be there.
func absent(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI is true", what)
	}
	t.Skip(what)
}

// installed installs the npm packages, exactly those of the lock file, and returns
// the path of node; empty where there is none.
// built is the server: the one that ARMATURE_TEST_BINARY names, or one of now.
func built(t *testing.T) string {
	t.Helper()
	if binary := os.Getenv("ARMATURE_TEST_BINARY"); binary != "" {
		return binary
	}
	binary := filepath.Join(t.TempDir(), "armature")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/armature").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return binary
}

func installed(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return ""
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return ""
	}
	out, err := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts").CombinedOutput()
	if err != nil {
		absent(t, fmt.Sprintf("npm ci: %v\n%s", err, out))
	}
	return node
}

// newDatabase makes an empty database on a server, which is dropped when the test
// ends: an installation is alone in its database.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	db, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	name := "armature_clients_" + strings.ToLower(rand.Text()[:10])
	if _, err := db.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		defer db.Close(ctx)
		if _, err := db.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// published is the metadata document of a client, at a host of this machine.
type published struct {
	url, host   string
	certificate string // file in which what the host is trusted by is
}

// publish serves the metadata of a client (Client ID Metadata Documents) until the test
// ends.
func publish(t *testing.T) *published {
	t.Helper()
	p := &published{certificate: filepath.Join(t.TempDir(), "host.pem")}
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"client_id": p.url, "client_name": "Agent", "redirect_uris": []string{callback}, "token_endpoint_auth_method": "none",
			"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		})
	}))
	t.Cleanup(host.Close)
	p.host, p.url = host.Listener.Addr().String(), host.URL+"/client.json"
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: host.Certificate().Raw})
	if err := os.WriteFile(p.certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// server is a running server.
type server struct{ origin, authorization string }

// serve runs the server on an empty folder, on SQLite or a PostgreSQL database,
// until the test ends.
func serve(t *testing.T, binary, database string, p *published) *server {
	t.Helper()
	data := t.TempDir()
	common := []string{"--data", data}
	if database != "" {
		common = append(common, "--database", database)
	}
	environment := append(os.Environ(), "ARMATURE_ADMIN_PASSWORD="+password, "SSL_CERT_FILE="+p.certificate)
	run := func(args ...string) []byte {
		cmd := exec.Command(binary, append(args, common...)...)
		cmd.Env = environment
		var problem bytes.Buffer
		cmd.Stderr = &problem
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &problem)
		}
		return out
	}
	run("site", "new", "default")
	run("site", "config", "default", "set", "allowed_private_hosts", `["`+p.host+`"]`)
	cmd := exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, common...)...)
	cmd.Env = environment
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	s := &server{}
	lines := bufio.NewScanner(out)
	for s.origin == "" && lines.Scan() {
		s.origin = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	if s.origin == "" {
		t.Fatal("the server did not say where it serves")
	}
	go io.Copy(io.Discard, out) // until the server ends
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal(run("user", "keys", "Administrator", "--json"), &keys); err != nil {
		t.Fatal(err)
	}
	s.authorization = "token " + keys.Key + ":" + keys.Secret
	return s
}

// client makes an OAuth client over REST.
func (s *server) client(t *testing.T, algorithm string) (id, secret string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{
		"app_name": "Client", "scopes": "all openid", "redirect_uris": callback, "default_redirect_uri": callback,
		"id_token_signed_response_alg": algorithm,
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.origin+"/api/resource/OAuth%20Client", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", s.authorization)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Data struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		} `json:"data"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Data.Secret == "" {
		t.Fatalf("make a client: %d %v", res.StatusCode, err)
	}
	return answer.Data.ID, answer.Data.Secret
}

// goClient is an application written in Go.
func goClient(t *testing.T, s *server, algorithm string, style oauth2.AuthStyle) {
	ctx := t.Context()
	id, secret := s.client(t, algorithm)
	provider, err := oidc.NewProvider(ctx, s.origin)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = style
	config := &oauth2.Config{ClientID: id, ClientSecret: secret, Endpoint: endpoint, RedirectURL: callback, Scopes: []string{oidc.ScopeOpenID, "all"}}

	verifier := oauth2.GenerateVerifier()
	back := s.approve(t, config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier), oidc.Nonce("nonce")))
	if back.Get("state") != "state" {
		t.Fatalf("answer %v", back)
	}
	token, err := config.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if token.TokenType != "Bearer" || time.Until(token.Expiry) < 59*time.Minute {
		t.Errorf("token %+v", token)
	}
	raw, _ := token.Extra("id_token").(string)
	subject := ""
	if algorithm == "RS256" {
		verified, err := provider.Verifier(&oidc.Config{ClientID: id}).Verify(ctx, raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := verified.VerifyAccessToken(token.AccessToken); err != nil || verified.Nonce != "nonce" {
			t.Errorf("ID token %+v: %v", verified, err)
		}
		subject = verified.Subject
	} else {
		subject = subjectHS256(t, raw, secret)
	}
	user, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil || user.Subject != subject {
		t.Errorf("userinfo %+v: %v", user, err)
	}

	token.Expiry = time.Now().Add(-time.Minute) // the library refreshes by itself
	renewed, err := config.TokenSource(ctx, token).Token()
	if err != nil || renewed.AccessToken == token.AccessToken || renewed.RefreshToken == token.RefreshToken {
		t.Fatalf("refresh %+v: %v", renewed, err)
	}
	res, err := config.Client(ctx, renewed).Get(s.origin + "/api/resource/User")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the resource answered %d", res.StatusCode)
	}
}

// subjectHS256 checks an ID token with the client's secret.
func subjectHS256(t *testing.T, raw, secret string) string {
	t.Helper()
	at := strings.LastIndexByte(raw, '.')
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(raw[:at]))
	signature, err := base64.RawURLEncoding.DecodeString(raw[at+1:])
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		t.Fatal("the ID token is not signed with the secret")
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
	var claims struct{ Sub string }
	if err != nil || json.Unmarshal(body, &claims) != nil || claims.Sub == "" {
		t.Fatalf("claims %s", body)
	}
	return claims.Sub
}

// approve is what the user does in a browser: log in, and press Allow.
func (s *server) approve(t *testing.T, address string) url.Values {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	var answer url.Values
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), callback) {
			answer = r.URL.Query()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return string(text)
	}
	submit := func(text string, fields url.Values) string {
		t.Helper()
		action := regexp.MustCompile(`<form[^>]* action="([^"]*)"`).FindStringSubmatch(text)
		if action == nil {
			t.Fatalf("no form: %s", text)
		}
		for _, in := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			fields.Set(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
		}
		return page(browser.PostForm(s.origin+html.UnescapeString(action[1]), fields))
	}
	login := page(browser.Get(address))
	consent := submit(login, url.Values{"usr": {"Administrator"}, "pwd": {password}})
	submit(consent, url.Values{"decision": {"allow"}})
	if answer == nil {
		t.Fatal("no answer came to the callback")
	}
	return answer
}
