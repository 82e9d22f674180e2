package main_test

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/core/serve/loopback"
	"armature/core/store/pgserver"
	"armature/plugins/plugintest"
)

// soon is how long what one server does may take to be seen by the others in a
// test. It takes about a second, which the tests log, and longer where tests keep
// the machine busy.
const soon = 2 * time.Minute

// cluster is servers that share a PostgreSQL, a Redis and nothing else: each has
// a data folder of its own.
type cluster struct {
	t       *testing.T
	pg      *pgserver.Server
	members []*member
	balance string // URL of the load balancer
	auth    string
}

// member is one server, which may be down.
type member struct {
	in   *armaturetest.Installation
	args []string
	*armaturetest.Server
}

func newCluster(t *testing.T, members int) *cluster {
	t.Helper()
	redis := need(t, "ARMATURE_TEST_REDIS")
	c := &cluster{t: t, pg: pgserver.Start(t)}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	for range members {
		c.members = append(c.members, &member{
			in:   &armaturetest.Installation{T: t, Data: t.TempDir(), Database: c.pg.URL, Env: []string{"ARMATURE_SECRET_KEY=" + hex.EncodeToString(key), "ARMATURE_REDIS=" + redis}},
			args: []string{"--listen", loopback.Free(t), "--log-level", "warn"},
		})
	}
	return c
}

// start starts every member at once and waits for all.
func (c *cluster) start() {
	var work sync.WaitGroup
	for _, m := range c.members {
		work.Go(func() { m.Server = m.in.Serve(m.args...) })
	}
	work.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// need is a variable that names a service of the tests.
func need(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	switch {
	case value == "" && os.Getenv("CI") != "":
		t.Fatal(variable + " is not set")
	case value == "":
		t.Skip(variable + " is not set")
	}
	return value
}

// schemaVersion is that of the DocTypes of the default site.
func (c *cluster) schemaVersion() string {
	c.t.Helper()
	return c.pg.SQL(c.t, "SELECT version FROM site_default.armature_schema")
}

// within measures how long it takes until all members agree.
func (c *cluster) within(what string, cond func(*armaturetest.Server) bool) {
	c.t.Helper()
	begun := time.Now()
	for i, m := range c.members {
		for !cond(m.Server) {
			if time.Since(begun) > soon {
				c.t.Fatalf("server %d does not see it within %s: %s", i, soon, what)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	c.t.Logf("%s: seen by all after %d ms", what, time.Since(begun).Milliseconds())
}

// TestTenStartTogether: ten servers on an empty database make its tables, the
// site's key and the Administrator's password once.
func TestTenStartTogether(t *testing.T) {
	alone := newCluster(t, 1)
	alone.start()
	want := alone.schemaVersion()

	c := newCluster(t, 10)
	c.start()
	if got := c.schemaVersion(); got != want {
		t.Errorf("DocTypes were installed %s times, alone %s", got, want)
	}
	passwords := 0
	for _, m := range c.members {
		passwords += strings.Count(m.Log.String(), "Password of Administrator")
	}
	if passwords != 1 {
		t.Errorf("%d passwords were shown", passwords)
	}
	c.auth = c.members[0].in.Keys("Administrator")
	for _, m := range c.members {
		m.Auth = c.auth
		if got := m.Want("GET", "/api/method/framework.auth.get_logged_user", nil); got != "Administrator" {
			t.Errorf("%v", got)
		}
	}
}

// TestSeenByAll: what one server changes, the others go by within a second.
func TestSeenByAll(t *testing.T) {
	c := newCluster(t, 3)
	c.start()
	c.auth = c.members[0].in.Keys("Administrator")
	for _, m := range c.members {
		m.Auth = c.auth
	}
	a := c.members[0].Server
	answers := func(path string, want int) func(*armaturetest.Server) bool {
		return func(s *armaturetest.Server) bool {
			status, _ := s.Call("GET", path, nil)
			return status == want
		}
	}
	prepareOrders(a, 1)
	c.within("a DocType", answers("/api/resource/Order/own0", 200))
	a.Want("PUT", "/api/resource/DocType/Order", map[string]any{"title_field": "note"})
	c.within("its change", func(s *armaturetest.Server) bool {
		doc := s.Want("GET", "/api/resource/DocType/Order", nil).(map[string]any)
		return doc["title_field"] == "note"
	})
	a.Install(plugintest.Asks(t, "acme.a", "1", "1", nil))
	c.within("a plugin", answers("/api/method/acme.a.echo", 200))
	a.Want("POST", "/api/method/framework.plugins.disable", map[string]any{"plugin": "acme.a"})
	c.within("its end", func(s *armaturetest.Server) bool {
		status, _ := s.Call("GET", "/api/method/acme.a.echo", nil)
		return status != 200
	})

	c.members[0].in.Run("user", "add", "jane@example.com", "--role", "System Manager")
	if _, stderr, err := c.members[1].in.Try("a long pass phrase\n", "user", "password", "jane@example.com"); err != nil {
		t.Fatal(stderr)
	}
	jane := c.members[2].in.Keys("jane@example.com")
	const me = "/api/method/framework.auth.get_logged_user"
	as := func(auth string, want int) func(*armaturetest.Server) bool {
		return func(s *armaturetest.Server) bool {
			status, _ := s.CallAs(auth, "GET", me, nil)
			return status == want
		}
	}
	c.within("a key", as(jane, 200))
	c.members[1].in.Keys("jane@example.com")
	c.within("that it was replaced", as(jane, 401))

	// A session of one server is a session of all, until one ends it.
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	status, _, _ := attempt(browser, a.URL, "", "POST", "/api/method/login", map[string]any{"usr": "jane@example.com", "pwd": "a long pass phrase"})
	if status != 200 {
		t.Fatalf("login: %d", status)
	}
	// Cookies know no port: the jar sends the one cookie to every server.
	session := func(want int) func(*armaturetest.Server) bool {
		return func(s *armaturetest.Server) bool {
			res, err := browser.Get(s.URL + me)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			return res.StatusCode == want
		}
	}
	c.within("a session", session(200))
	a.Want("PUT", "/api/resource/User/jane@example.com", map[string]any{"enabled": 0})
	c.within("that its user was disabled", func(s *armaturetest.Server) bool { return !session(200)(s) })
}
