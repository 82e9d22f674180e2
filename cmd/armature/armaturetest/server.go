package armaturetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running armature serve.
type Server struct {
	T       *testing.T
	Process *exec.Cmd
	URL     string
	Auth    string
	Log     *Buffer
	Done    chan error
}

// Kill ends the server without any warning.
func (s *Server) Kill() {
	_ = s.Process.Process.Kill()
	err := <-s.Done
	s.Done <- err
}

// Stop asks the server to end and waits for it.
func (s *Server) Stop() {
	s.T.Helper()
	if err := s.Process.Process.Signal(syscall.SIGTERM); err != nil {
		s.T.Fatal(err)
	}
	err := <-s.Done
	s.Done <- err
	if err != nil {
		s.T.Errorf("after SIGTERM: %v\n%s", err, s.Log)
	}
}

// Call sends a request with the server's credentials and returns the status and
// the decoded answer.
func (s *Server) Call(verb, path string, body any) (int, map[string]any) {
	s.T.Helper()
	return s.CallAs(s.Auth, verb, path, body)
}

func (s *Server) CallAs(auth, verb, path string, body any) (int, map[string]any) {
	s.T.Helper()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.T.Fatal(err)
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(s.T.Context(), verb, s.URL+path, text)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatalf("%s %s: %v\n%s", verb, path, err, s.Log)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		s.T.Fatalf("%s %s: %d, not JSON: %q", verb, path, resp.StatusCode, raw)
	}
	return resp.StatusCode, answer
}

// Want sends a request, fails unless it succeeds and returns its data or
// message.
func (s *Server) Want(verb, path string, body any) any {
	s.T.Helper()
	status, answer := s.Call(verb, path, body)
	if status/100 != 2 {
		s.T.Fatalf("%s %s: %d %v\n%s", verb, path, status, answer, s.Log)
	}
	if data, ok := answer["data"]; ok {
		return data
	}
	return answer["message"]
}

// patience is how long a test waits for what is certain to come: it is reached by a test
// that fails, and by no machine that is merely slow.
const patience = 2 * time.Minute

// Eventually tries until cond holds: for what another process does in its own
// time.
func Eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// Buffer collects what a process writes while the test reads it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// On asks a site who is asking, and returns the status.
func (s *Server) On(host, auth string) int {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.URL+"/api/method/framework.auth.get_logged_user", nil)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Host = host
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatalf("%v\n%s", err, s.Log)
	}
	res.Body.Close()
	return res.StatusCode
}

// Consent logs a user in at a provider, follows an authorization address, and
// returns the first address of ours that it leads to.
func Consent(t *testing.T, provider, user, password, address, home string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	back := ""
	browser := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), home+"/") {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.PostForm(provider+"/api/method/login", url.Values{"usr": {user}, "pwd": {password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("log in at the provider: %s", res.Status)
	}
	if res, err = browser.Get(address); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if back == "" {
		t.Fatalf("the provider did not lead back: %s", res.Status)
	}
	return back
}

// Bearer gets a token of the given scopes for ada@example.com, by the code flow,
// for a resource of the site (RFC 8707), or for all of it.
func (s *Server) Bearer(t *testing.T, scopes string, resource ...string) string {
	t.Helper()
	const home = "http://127.0.0.1:1"
	client := s.Want("POST", "/api/resource/OAuth Client", map[string]any{
		"app_name": "Narrow", "redirect_uris": home + "/cb", "scopes": scopes, "skip_authorization": 1,
	}).(map[string]any)
	id, secret := client["client_id"].(string), client["client_secret"].(string)
	back := Consent(t, s.URL, "ada@example.com", "a long enough pass phrase", s.URL+"/api/method/framework.integrations.oauth2.authorize?"+url.Values{
		"client_id": {id}, "response_type": {"code"}, "redirect_uri": {home + "/cb"}, "scope": {scopes}, "state": {"s"}, "resource": resource,
	}.Encode(), home)
	answered, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.PostForm(s.URL+"/api/method/framework.integrations.oauth2.get_token", url.Values{
		"grant_type": {"authorization_code"}, "code": {answered.Query().Get("code")}, "redirect_uri": {home + "/cb"},
		"client_id": {id}, "client_secret": {secret}, "resource": resource,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var token struct {
		Access string `json:"access_token"`
		Scope  string `json:"scope"`
	}
	if err := json.NewDecoder(res.Body).Decode(&token); err != nil || token.Access == "" {
		t.Fatalf("%s: %v", res.Status, err)
	}
	if len(strings.Fields(token.Scope)) != len(strings.Fields(scopes)) {
		t.Fatalf("asked for %q, got %q", scopes, token.Scope)
	}
	return "Bearer " + token.Access
}
