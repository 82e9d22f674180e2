package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

const right = "correct horse battery"

// clock moves when told.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// each runs a test on a site with a user, a ToDo and a clock of its own, in every
// database. It is noon when the test begins.
func each(t *testing.T, test func(t *testing.T, s *sitetest.Server, c *clock)) {
	t.Helper()
	on := func(t *testing.T, database string) {
		c := &clock{now: time.Date(2031, 3, 4, 12, 0, 0, 0, time.UTC)}
		s := sitetest.New(t, database, func(config *sites.Config) { config.Clock = c.Now })
		s.User(t, "jane@example.com", "System Manager")
		setPassword(t, s, "jane@example.com", right)
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "x"}).OK(t)
		test(t, s, c)
	}
	t.Run("SQLite", func(t *testing.T) { on(t, "") })
	t.Run("PostgreSQL", func(t *testing.T) { on(t, sitetest.Postgres(t)) })
}

func setPassword(t *testing.T, s *sitetest.Server, user, password string) {
	t.Helper()
	hash, err := auth.HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
		return s.Tenant.Auth.SetPassword(t.Context(), tx, identity.Root(), user, hash)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reply is an answer to a browser, which does not follow redirects by itself.
type reply struct {
	*http.Response
	text string
	body map[string]any
}

// send makes a request; headers are pairs.
func send(t *testing.T, s *sitetest.Server, verb, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), verb, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{Response: res, text: string(text)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &r.body); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return r
}

func (r reply) fails(t *testing.T, status int, excType string) {
	t.Helper()
	if r.StatusCode != status || r.body["exc_type"] != excType {
		t.Fatalf("got %d %v, want %d %s: %s", r.StatusCode, r.body["exc_type"], status, excType, r.text)
	}
}

// sid is the session the answer gives, as a Cookie header; empty for none.
func (r reply) sid() string {
	for _, c := range r.Cookies() {
		if (c.Name == "sid" || c.Name == "__Host-sid") && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// login logs in by the method.
func login(t *testing.T, s *sitetest.Server, user, password string, headers ...string) reply {
	t.Helper()
	body, err := json.Marshal(map[string]string{"usr": user, "pwd": password})
	if err != nil {
		t.Fatal(err)
	}
	return send(t, s, "POST", "/api/method/login", string(body), append(headers, "Content-Type", "application/json")...)
}

func loggedIn(t *testing.T, s *sitetest.Server, user string, headers ...string) string {
	t.Helper()
	r := login(t, s, user, right, headers...)
	if r.StatusCode != 200 || r.sid() == "" {
		t.Fatalf("login: %d %s", r.StatusCode, r.text)
	}
	return r.sid()
}

// who is whom a session belongs to; empty when it is no session.
func who(t *testing.T, s *sitetest.Server, cookie string, headers ...string) string {
	t.Helper()
	r := send(t, s, "GET", "/api/method/framework.auth.get_logged_user", "", append(headers, "Cookie", cookie)...)
	if r.StatusCode == 403 {
		return ""
	}
	user, _ := r.body["message"].(string)
	if r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	return user
}

// page sends the form of the login page.
func page(t *testing.T, s *sitetest.Server, form url.Values, headers ...string) reply {
	t.Helper()
	return send(t, s, "POST", "/login", form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}
