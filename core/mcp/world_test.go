package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/sites/sitetest"
)

const getToken = "/api/method/framework.integrations.oauth2.get_token"

// generations are specifications that clients speak: one without sessions and one with.
var generations = []string{"2026-07-28", "2025-06-18"}

// authorized sends requests with an Authorization header.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// agent is an MCP client of the official SDK.
type agent struct {
	t testing.TB
	*sdk.ClientSession
}

func connect(t testing.TB, s *sitetest.Server, authorization, version string) *agent {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	transport := &sdk.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: authorized(authorization)}, MaxRetries: -1, DisableStandaloneSSE: true,
	}
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &agent{t, session}
}

// call calls a tool.
func (a *agent) call(tool string, args map[string]any) (got map[string]any, failed bool) {
	a.t.Helper()
	res, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok || json.Unmarshal([]byte(text.Text), &got) != nil {
		a.t.Fatalf("%s %v: %v", tool, args, res.Content)
	}
	return got, res.IsError
}

func (a *agent) ok(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	got, failed := a.call(tool, args)
	if failed {
		a.t.Fatalf("%s %v: %v", tool, args, got)
	}
	return got
}

func (a *agent) refused(excType, tool string, args map[string]any) map[string]any {
	a.t.Helper()
	got, failed := a.call(tool, args)
	if !failed || got["exc_type"] != excType {
		a.t.Fatalf("%s %v: %v, want %s", tool, args, got, excType)
	}
	return got
}

// raw is a message sent without a library.
func raw(t testing.TB, s *sitetest.Server, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, s.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	for name, values := range header {
		r.Header[name] = values
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func toolCall(tool string, args map[string]any) string {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	return string(text)
}

// program is an OAuth client that acts as a user of its own, and gets tokens for a part
// of the site.
type program struct {
	t          testing.TB
	s          *sitetest.Server
	id, secret string
}

func newProgram(t testing.TB, s *sitetest.Server, email string, roles ...string) *program {
	t.Helper()
	rows := []map[string]any{}
	for _, role := range roles {
		rows = append(rows, map[string]any{"role": role})
	}
	s.Admin.On(t).Post("/api/resource/User", map[string]any{"email": email, "first_name": "Robot", "user_type": "Service", "roles": rows}).OK(t)
	data := s.Admin.On(t).Post("/api/resource/OAuth%20Client", map[string]any{"app_name": "Agent", "service_user": email, "scopes": "openid all"}).Data(t)
	return &program{t, s, data["client_id"].(string), data["client_secret"].(string)}
}

// token is a token for a resource, as an Authorization header.
func (p *program) token(scopes, resource string) string {
	p.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scopes}}
	if resource != "" {
		form.Set("resource", resource)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), http.MethodPost, p.s.URL+getToken, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.SetBasicAuth(p.id, p.secret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var got struct {
		Token string `json:"access_token"`
	}
	text, _ := io.ReadAll(res.Body)
	if json.Unmarshal(text, &got) != nil || got.Token == "" {
		p.t.Fatalf("no token: %s", text)
	}
	return "Bearer " + got.Token
}
