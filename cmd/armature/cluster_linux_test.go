package main_test

import (
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"armature/plugins/plugintest"
)

// soon is how long what one server does may take to be seen by the others in a
// test. It takes about a second, which the tests log, and longer where tests keep
// the machine busy.
const soon = 15 * time.Second

// cluster is servers that share a PostgreSQL, a Redis and nothing else: each has
// a data folder of its own.
type cluster struct {
	t       *testing.T
	pg      *privatePostgres
	members []*member
	balance string // URL of the load balancer
	auth    string
}

// member is one server, which may be down.
type member struct {
	in   *installation
	args []string
	*server
}

func newCluster(t *testing.T, members int) *cluster {
	t.Helper()
	redis := need(t, "ARMATURE_TEST_REDIS")
	c := &cluster{t: t, pg: startPostgres(t)}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	for range members {
		c.members = append(c.members, &member{
			in:   &installation{t: t, data: t.TempDir(), database: c.pg.url, env: []string{"ARMATURE_SECRET_KEY=" + hex.EncodeToString(key), "ARMATURE_REDIS=" + redis}},
			args: []string{"--listen", freeAddress(t), "--log-level", "warn"},
		})
	}
	return c
}

// start starts every member at once and waits for all.
func (c *cluster) start() {
	var work sync.WaitGroup
	for _, m := range c.members {
		work.Go(func() { m.server = m.in.serve(m.args...) })
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

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// privatePostgres is a server of the test's own, which it may kill.
type privatePostgres struct{ bin, dir, url string }

func startPostgres(t *testing.T) *privatePostgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL is not installed")
		}
		t.Skip("PostgreSQL is not installed")
	}
	p := &privatePostgres{bin: filepath.Dir(found[len(found)-1])}
	var err error
	if p.dir, err = os.MkdirTemp("/tmp", "armature-cluster-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(p.dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	host, port, _ := net.SplitHostPort(freeAddress(t))
	p.run(t, "initdb", "-D", p.data(), "-U", "armature", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	p.run(t, "pg_ctl", "-D", p.data(), "-w", "-t", "60", "-l", filepath.Join(p.dir, "log"), "start", "-o",
		fmt.Sprintf("-c listen_addresses=%s -c port=%s -c unix_socket_directories=%s -c max_connections=100", host, port, p.dir))
	t.Cleanup(func() { p.run(t, "pg_ctl", "-D", p.data(), "-w", "-m", "immediate", "stop") })
	p.run(t, "createdb", "-h", host, "-p", port, "-U", "armature", "armature")
	p.url = "postgres://armature@" + net.JoinHostPort(host, port) + "/armature?sslmode=disable"
	return p
}

// nobody is the user that PostgreSQL runs as where the test runs as root, which
// it refuses to.
const nobody = 65534

func (p *privatePostgres) data() string { return filepath.Join(p.dir, "data") }

func (p *privatePostgres) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	// Output goes to a file: the server keeps what it inherits open.
	out, err := os.CreateTemp(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// crash ends the server as a power cut does and starts it again.
func (p *privatePostgres) crash(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.data(), "-w", "-t", "60", "-m", "immediate", "-l", filepath.Join(p.dir, "log"), "restart")
}

// startBalancer puts HAProxy before the members. It asks each whether it is
// ready, and tries another one only where no connection came about: a request
// that may have been done is not sent twice.
func (c *cluster) startBalancer() {
	t := c.t
	t.Helper()
	bin, err := exec.LookPath("haproxy")
	if err != nil {
		bin = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(bin); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("haproxy is not installed")
		}
		t.Skip("haproxy is not installed")
	}
	address := freeAddress(t)
	var config strings.Builder
	fmt.Fprintf(&config, `defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  option redispatch
  retries 3
listen armature
  bind %s
  balance roundrobin
  option httpchk GET /readyz
`, address)
	for i, m := range c.members {
		fmt.Fprintf(&config, "  server s%d %s check inter 200ms fall 1 rise 1\n", i, m.args[1])
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	put(t, file, []byte(config.String()))
	cmd := exec.Command(bin, "-db", "-q", "-f", file)
	said := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("haproxy: %s", said)
		}
	})
	c.balance = "http://" + address
	eventually(t, "the load balancer answers", func() bool {
		status, _, _ := attempt(http.DefaultClient, c.balance, c.auth, "GET", "/api/method/framework.auth.get_logged_user", nil)
		return status == http.StatusOK
	})
}

// within measures how long it takes until all members agree.
func (c *cluster) within(what string, cond func(*server) bool) {
	c.t.Helper()
	begun := time.Now()
	for i, m := range c.members {
		for !cond(m.server) {
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
	want := alone.pg.schemaVersion(t)

	c := newCluster(t, 10)
	c.start()
	if got := c.pg.schemaVersion(t); got != want {
		t.Errorf("DocTypes were installed %d times, alone %d", got, want)
	}
	passwords := 0
	for _, m := range c.members {
		passwords += strings.Count(m.log.String(), "Password of Administrator")
	}
	if passwords != 1 {
		t.Errorf("%d passwords were shown", passwords)
	}
	c.auth = c.members[0].in.keys("Administrator")
	for _, m := range c.members {
		m.auth = c.auth
		if got := m.want("GET", "/api/method/framework.auth.get_logged_user", nil); got != "Administrator" {
			t.Errorf("%v", got)
		}
	}
}

func (p *privatePostgres) schemaVersion(t *testing.T) (version int) {
	t.Helper()
	db, err := sql.Open("pgx", p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT version FROM site_default.armature_schema").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// TestSeenByAll: what one server changes, the others go by within a second.
func TestSeenByAll(t *testing.T) {
	c := newCluster(t, 3)
	c.start()
	c.auth = c.members[0].in.keys("Administrator")
	for _, m := range c.members {
		m.auth = c.auth
	}
	a := c.members[0].server
	answers := func(path string, want int) func(*server) bool {
		return func(s *server) bool {
			status, _ := s.call("GET", path, nil)
			return status == want
		}
	}
	prepareOrders(a, 1)
	c.within("a DocType", answers("/api/resource/Order/own0", 200))
	a.want("PUT", "/api/resource/DocType/Order", map[string]any{"title_field": "note"})
	c.within("its change", func(s *server) bool {
		doc := s.want("GET", "/api/resource/DocType/Order", nil).(map[string]any)
		return doc["title_field"] == "note"
	})
	a.install(plugintest.Asks(t, "acme.a", "1", "1", nil))
	c.within("a plugin", answers("/api/method/acme.a.echo", 200))
	a.want("POST", "/api/method/framework.plugins.disable", map[string]any{"plugin": "acme.a"})
	c.within("its end", func(s *server) bool {
		status, _ := s.call("GET", "/api/method/acme.a.echo", nil)
		return status != 200
	})

	c.members[0].in.run("user", "add", "jane@example.com", "--role", "System Manager")
	if _, stderr, err := c.members[1].in.try("a long pass phrase\n", "user", "password", "jane@example.com"); err != nil {
		t.Fatal(stderr)
	}
	jane := c.members[2].in.keys("jane@example.com")
	const me = "/api/method/framework.auth.get_logged_user"
	as := func(auth string, want int) func(*server) bool {
		return func(s *server) bool {
			status, _ := s.callAs(auth, "GET", me, nil)
			return status == want
		}
	}
	c.within("a key", as(jane, 200))
	c.members[1].in.keys("jane@example.com")
	c.within("that it was replaced", as(jane, 401))

	// A session of one server is a session of all, until one ends it.
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	status, _, _ := attempt(browser, a.url, "", "POST", "/api/method/login", map[string]any{"usr": "jane@example.com", "pwd": "a long pass phrase"})
	if status != 200 {
		t.Fatalf("login: %d", status)
	}
	// Cookies know no port: the jar sends the one cookie to every server.
	session := func(want int) func(*server) bool {
		return func(s *server) bool {
			res, err := browser.Get(s.url + me)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			return res.StatusCode == want
		}
	}
	c.within("a session", session(200))
	a.want("PUT", "/api/resource/User/jane@example.com", map[string]any{"enabled": 0})
	c.within("that its user was disabled", func(s *server) bool { return !session(200)(s) })
}

// TestSitesOfACluster: a site that is made, configured or dropped on one machine
// is so on all, which share a database and no disk. A machine that comes later
// with an empty data folder serves what the others serve.
func TestSitesOfACluster(t *testing.T) {
	c := newCluster(t, 3)
	c.start()
	shop := func(auth string) func(*server) int {
		return func(s *server) int { return s.on("shop.example", auth) }
	}
	answers := func(auth string, want int) func(*server) bool {
		return func(s *server) bool { return shop(auth)(s) == want }
	}
	on := func(machine int, args ...string) { t.Helper(); c.members[machine].in.run(args...) }
	const none = http.StatusNotFound
	on(0, "site", "config", "default", "set", "hosts", `["docs.example"]`)
	c.within("that the default site answers no other host", answers("", none))

	on(0, "site", "new", "shop")
	on(1, "site", "config", "shop", "set", "hosts", `["shop.example"]`)
	auth := c.members[2].in.keys("Administrator", "--site", "shop")
	c.within("a site", answers(auth, http.StatusOK))
	if _, stderr, err := c.members[2].in.try("", "site", "new", "shop"); err == nil || !strings.Contains(stderr, "exist") {
		t.Errorf("made twice: %v %s", err, stderr)
	}
	if _, stderr, err := c.members[2].in.try("", "site", "config", "shop", "set", "time_zone", `"Nowhere"`); err == nil || !strings.Contains(stderr, "time_zone") {
		t.Errorf("a wrong time zone: %v %s", err, stderr)
	}
	// Every server does what the one configuration says, now and later.
	on(2, "site", "config", "shop", "set", "rate_limit", `{"limit": 0.000001, "window": 3600}`)
	c.within("its limit", answers(auth, http.StatusTooManyRequests))
	on(0, "site", "config", "shop", "set", "rate_limit", "null")
	c.within("that it has none", answers(auth, http.StatusOK))

	late := &member{in: &installation{t: t, data: t.TempDir(), database: c.pg.url, env: c.members[0].in.env}, args: []string{"--log-level", "warn"}}
	late.server = late.in.serve(late.args...)
	if status := shop(auth)(late.server); status != http.StatusOK {
		t.Errorf("a server that comes later answers %d", status)
	}
	c.members = append(c.members, late)
	want := c.members[0].in.run("site", "list")
	for i, m := range c.members {
		if got := m.in.run("site", "list"); got != want || !strings.Contains(got, "shop.example") {
			t.Errorf("machine %d lists\n%s", i, got)
		}
	}

	on(3, "site", "drop", "shop", "--yes")
	c.within("that it was dropped", answers(auth, none))
	on(1, "site", "drop", "shop", "--undo")
	c.within("that it is back", answers(auth, http.StatusOK))
	on(1, "site", "drop", "shop", "--yes")
	on(2, "site", "new", "shop")
	on(2, "site", "config", "shop", "set", "hosts", `["shop.example"]`)
	c.within("that another one is there", answers(auth, http.StatusUnauthorized)) // a key of the one before
	on(0, "site", "drop", "shop", "--yes", "--erase")
	c.within("that it is gone", answers(auth, none))
}

// on asks a site who is asking, and returns the status.
func (s *server) on(host, auth string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/method/framework.auth.get_logged_user", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestClusterUnderFire: three servers behind HAProxy take writes while they are
// killed and started again, and PostgreSQL crashes. What was acknowledged is
// there, once.
func TestClusterUnderFire(t *testing.T) {
	const writers, acksEach = 6, 60
	c := newCluster(t, 3)
	c.start()
	c.auth = c.members[0].in.keys("Administrator")
	first := c.members[0].server
	first.auth = c.auth
	own := prepareOrders(first, writers)
	c.startBalancer()

	l, notes := newLedger(), &noted{acked: map[string]bool{}}
	stop, work := make(chan struct{}), sync.WaitGroup{}
	for _, name := range own {
		work.Go(func() { l.write(stop, func() string { return c.balance }, c.auth, name, 0) })
	}
	work.Go(func() { notes.write(stop, c.balance, c.auth) })
	goOn := func(what string) {
		t.Helper()
		until := l.acks.Load() + acksEach
		eventually(t, "writes go on "+what, func() bool { return l.acks.Load() >= until })
	}
	goOn("at first")
	for round := range 2 {
		for i, m := range c.members {
			m.kill()
			goOn(fmt.Sprintf("without server %d", i))
			m.server = m.in.serve(m.args...)
			m.auth = c.auth
		}
		c.pg.crash(t)
		goOn(fmt.Sprintf("after crash %d of PostgreSQL", round+1))
	}
	// All but one at once, in the middle of everything.
	c.members[0].kill()
	c.members[1].kill()
	goOn("with one server")
	close(stop)
	work.Wait()
	last := c.members[2].server
	last.auth = c.auth
	l.check(t, last, own)
	notes.check(t, last)
}

// noted is documents to which the server gives the name: one that was stored
// twice would be there under two names.
type noted struct {
	mu    sync.Mutex
	acked map[string]bool // by description
	tried int
}

func (n *noted) write(stop <-chan struct{}, url, auth string) {
	client := &http.Client{Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-stop:
			return
		default:
		}
		n.mu.Lock()
		n.tried++
		text := fmt.Sprintf("note %d", n.tried)
		n.mu.Unlock()
		if _, _, ok := attempt(client, url, auth, "POST", "/api/resource/ToDo", map[string]any{"description": text}); ok {
			n.mu.Lock()
			n.acked[text] = true
			n.mu.Unlock()
		}
	}
}

func (n *noted) check(t *testing.T, s *server) {
	t.Helper()
	times := map[string]int{}
	for _, row := range s.want("GET", `/api/resource/ToDo?fields=["description"]&limit_page_length=1000000`, nil).([]any) {
		times[row.(map[string]any)["description"].(string)]++
	}
	for text, count := range times {
		if count > 1 {
			t.Errorf("%q was stored %d times", text, count)
		}
	}
	for text := range n.acked {
		if times[text] == 0 {
			t.Errorf("%q was acknowledged and is gone", text)
		}
	}
	t.Logf("%d of %d named by the server were acknowledged; %d are there, none twice", len(n.acked), n.tried, len(times))
}
