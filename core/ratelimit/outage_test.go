//go:build unix

package ratelimit_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"armature/core/ratelimit"
)

// server is a Redis of a test's own, which may be killed.
type server struct {
	port string
	cmd  *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no redis-server, and CI must test that it goes away")
		}
		t.Skip("a Redis that goes away is not tested: install redis-server")
	}
	s := &server{}
	s.start(t)
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *server) url() string { return "redis://127.0.0.1:" + s.port }

// start returns when the server answers. The first start chooses a port, which
// the others keep.
func (s *server) start(t *testing.T) {
	t.Helper()
	if s.port == "" {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, s.port, _ = net.SplitHostPort(free.Addr().String())
		free.Close()
	}
	s.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", s.port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			return
		}
	}
	t.Fatalf("redis-server does not start: %s", &said)
}

// kill ends the server without warning, and its memory with it.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// journal is a log whose messages a test can wait for.
type journal struct {
	messages chan string
}

func newJournal() *journal { return &journal{make(chan string, 100)} }

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.messages <- r.Message
	return nil
}

// expect waits for the next message, which must begin so.
func (j *journal) expect(t *testing.T, beginning string) {
	t.Helper()
	select {
	case m := <-j.messages:
		if !strings.HasPrefix(m, beginning) {
			t.Fatalf("logged %q, expected %q", m, beginning)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("%q was not logged", beginning)
	}
}

// silent fails when anything else was logged.
func (j *journal) silent(t *testing.T) {
	t.Helper()
	select {
	case m := <-j.messages:
		t.Errorf("logged %q", m)
	default:
	}
}

const (
	away = "Redis is away"
	back = "Redis is back"
)

// process is one of several that share a Redis.
type process struct {
	limiter  *ratelimit.Limiter
	counters *ratelimit.Counters
	log      *journal
}

func newProcess(t *testing.T, url string, c *clock) process {
	t.Helper()
	p := process{log: newJournal()}
	p.counters = newCounters(t, ratelimit.Options{Redis: url, Logger: slog.New(p.log)})
	p.limiter = ratelimit.New(newSite(t, "one", `{"rate_limit": {"limit": 1e6, "window": 3600}}`, c), p.counters, nil)
	return p
}

// load runs requests in parallel and returns what their answers said they used.
// halfway is called when half of them have ended.
func (p process) load(t *testing.T, c *clock, halfway func()) int64 {
	t.Helper()
	const parallel, each = 8, 50
	said := newLedger(time.UTC, 3600)
	var wg sync.WaitGroup
	half := make(chan struct{}, parallel*each)
	for range parallel {
		wg.Go(func() {
			for range each {
				h := request(t, p.limiter, c.Now(), time.Millisecond)
				said.note(c.Now(), number(t, h, "X-RateLimit-Used"))
				half <- struct{}{}
			}
		})
	}
	for range parallel * each / 2 {
		<-half
	}
	if halfway != nil {
		halfway()
	}
	wg.Wait()
	for _, total := range said.total {
		return total
	}
	return 0
}

func TestRedisIsKilledUnderLoad(t *testing.T) {
	s := newServer(t)
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	one, two := newProcess(t, patient(s.url()), c), newProcess(t, patient(s.url()), c)
	ones, twos := one.load(t, c, nil), two.load(t, c, nil)
	for _, p := range []process{one, two} {
		if n := counted(t, p.limiter, c.Now()); n != ones+twos {
			t.Errorf("together: %d on the counter, the answers say %d", n, ones+twos)
		}
	}

	// request fails the test if a limit that is nowhere near refuses it.
	ones += one.load(t, c, s.kill)
	one.log.expect(t, away)
	twos += two.load(t, c, nil)
	two.log.expect(t, away)
	for _, tt := range []struct {
		process
		said int64
	}{{one, ones}, {two, twos}} {
		if n := counted(t, tt.limiter, c.Now()); n != tt.said || !tt.counters.Away() {
			t.Errorf("alone: %d on the counter, this process's answers say %d", n, tt.said)
		}
		tt.log.silent(t) // said once
	}

	s.start(t) // it remembers nothing
	one.log.expect(t, back)
	two.log.expect(t, back)
	since := one.load(t, c, nil)
	if n := counted(t, one.limiter, c.Now()); n != ones+since {
		t.Errorf("after Redis lost its memory: %d on the counter, this process's answers say %d", n, ones+since)
	}
	fresh := newProcess(t, patient(s.url()), c)
	if n := counted(t, fresh.limiter, c.Now()); n != since {
		t.Errorf("%d in Redis, the answers since it is back say %d", n, since)
	}
	for _, p := range []process{one, two, fresh} {
		p.log.silent(t)
	}
}

func TestRedisHangs(t *testing.T) {
	s := newServer(t)
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	p := newProcess(t, s.url(), c)
	request(t, p.limiter, c.Now(), time.Second)
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 100 {
		request(t, p.limiter, c.Now(), time.Second)
	}
	// One of them waits for Redis, the others do not: all of them would take 25 seconds.
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("100 requests took %s", took)
	}
	p.log.expect(t, away)
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.log.expect(t, back)
	request(t, p.limiter, c.Now(), time.Second)
	if n := counted(t, p.limiter, c.Now()); n != 102e6 {
		t.Errorf("%d on the counter", n)
	}
}

func TestRedisIsNotThereAtStart(t *testing.T) {
	s := newServer(t)
	s.kill()
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	p := newProcess(t, s.url(), c)
	p.log.expect(t, away)
	h := request(t, p.limiter, c.Now(), time.Second)
	if h.Get("X-RateLimit-Used") != "1000000" {
		t.Errorf("headers: %v", h)
	}
	s.start(t)
	p.log.expect(t, back)
	if p.counters.Away() {
		t.Error("it is said to be away")
	}
}

// TestRedisTakesNoWrites: one that answers and refuses to count is away, not back
// and away again with every request.
func TestRedisTakesNoWrites(t *testing.T) {
	s := newServer(t)
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	p := newProcess(t, s.url(), c)
	s.command(t, "CONFIG SET maxmemory 1")
	for range 10 {
		request(t, p.limiter, c.Now(), time.Second)
	}
	p.log.expect(t, away)
	if n := counted(t, p.limiter, c.Now()); n != 10e6 {
		t.Errorf("%d on the counter", n)
	}
	s.command(t, "CONFIG SET maxmemory 0")
	p.log.expect(t, back)
}

func (s *server) command(t *testing.T, line string) {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\n", line)
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil || answer != "+OK\r\n" {
		t.Fatalf("%s: %q, %v", line, answer, err)
	}
}

func TestCallsAreCountedWhileRedisIsAway(t *testing.T) {
	s := newServer(t)
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	one, two := newProcess(t, patient(s.url()), c), newProcess(t, patient(s.url()), c)
	limit := ratelimit.CallLimit{Limit: 2, Period: time.Hour}
	count := func(p process) bool { return p.limiter.Count(t.Context(), limit, "acme.send", "a") == nil }
	if got := []bool{count(one), count(two), count(one)}; got[0] != true || got[1] != true || got[2] != false {
		t.Errorf("together: %v", got)
	}
	s.kill()
	if got := []bool{count(one), count(two), count(two)}; got[0] != false || got[1] != true || got[2] != false {
		t.Errorf("alone: %v", got)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	s := newServer(t)
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	p := newProcess(t, s.url(), c)
	s.kill()
	request(t, p.limiter, c.Now(), time.Second)
	p.log.expect(t, away)
	counters, err := ratelimit.NewCounters(ratelimit.Options{Redis: s.url()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*ratelimit.Counters{counters, p.counters} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	// Close waits for what this package has started; a dial of go-redis that has
	// just failed may take a moment longer to end.
	stacks := make([]byte, 1<<20)
	if text := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(text, "ratelimit.(*shared)") {
		t.Errorf("a goroutine is left:\n%s", text)
	}
	if h := request(t, p.limiter, c.Now(), time.Second); h.Get("X-RateLimit-Remaining") != "999999000000" {
		t.Errorf("a request after Close: %v", h)
	}
}

func TestAddressOfRedis(t *testing.T) {
	for _, url := range []string{"http://:hunter2@127.0.0.1", "redis://:hunter2@127.0.0.1:x y", "redis://:hunter2@h:1/a/b", "::hunter2"} {
		if _, err := ratelimit.NewCounters(ratelimit.Options{Redis: url}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestTheClientGoesAway: its request is charged, and Redis is not blamed.
func TestTheClientGoesAway(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	log := newJournal()
	counters := newCounters(t, ratelimit.Options{Redis: redisURL(t), Prefix: newPrefix(), Logger: slog.New(log)})
	l := ratelimit.New(newSite(t, "one", `{"rate_limit": {"limit": 10, "window": 3600}}`, c), counters, nil)
	ctx, cancel := context.WithCancel(t.Context())
	d, err := l.Begin(ctx, make(http.Header), c.Now())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	d.End(ctx, make(http.Header), http.StatusOK, time.Second)
	if n := counted(t, l, c.Now()); n != 1e6 || counters.Away() {
		t.Errorf("%d on the counter, away: %v", n, counters.Away())
	}
	log.silent(t)
}
