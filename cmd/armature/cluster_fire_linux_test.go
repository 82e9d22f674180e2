package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/core/serve/loopback"
)

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
	address := loopback.Free(t)
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
	armaturetest.Put(t, file, []byte(config.String()))
	cmd := exec.Command(bin, "-db", "-q", "-f", file)
	said := &armaturetest.Buffer{}
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
	armaturetest.Eventually(t, "the load balancer answers", func() bool {
		status, _, _ := attempt(http.DefaultClient, c.balance, c.auth, "GET", "/api/method/framework.auth.get_logged_user", nil)
		return status == http.StatusOK
	})
}

// TestClusterUnderFire: three servers behind HAProxy take writes while they are
// killed and started again, and PostgreSQL crashes. What was acknowledged is
// there, once.
func TestClusterUnderFire(t *testing.T) {
	const writers, acksEach = 6, 60
	c := newCluster(t, 3)
	c.start()
	c.auth = c.members[0].in.Keys("Administrator")
	first := c.members[0].Server
	first.Auth = c.auth
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
		armaturetest.Eventually(t, "writes go on "+what, func() bool { return l.acks.Load() >= until })
	}
	goOn("at first")
	for round := range 2 {
		for i, m := range c.members {
			m.Kill()
			goOn(fmt.Sprintf("without server %d", i))
			m.Server = m.in.Serve(m.args...)
			m.Auth = c.auth
		}
		c.pg.Crash(t)
		goOn(fmt.Sprintf("after crash %d of PostgreSQL", round+1))
	}
	// All but one at once, in the middle of everything.
	c.members[0].Kill()
	c.members[1].Kill()
	goOn("with one server")
	close(stop)
	work.Wait()
	last := c.members[2].Server
	last.Auth = c.auth
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

func (n *noted) check(t *testing.T, s *armaturetest.Server) {
	t.Helper()
	times := map[string]int{}
	for _, row := range s.Want("GET", `/api/resource/ToDo?fields=["description"]&limit_page_length=1000000`, nil).([]any) {
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
