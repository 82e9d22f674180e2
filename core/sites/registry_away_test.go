package sites_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// TestDatabaseGoesAway: while the list of sites cannot be read the last one
// counts, which is logged once, and the next one is read when it can be.
func TestDatabaseGoesAway(t *testing.T) {
	p := newProcesses(t, false)
	other, _ := p.start()
	gate := newGate(t, p.config.Database)
	var log lockedText
	s, _ := p.start(func(c *sites.Config) {
		c.Database = gate.url
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	name, late := unique("s"), unique("t")
	sitetest.Create(t, s, name)
	gate.close()
	for range 3 {
		s.Refresh(t.Context())
	}
	if n := strings.Count(log.String(), "look for sites"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	if err := s.Ready(t.Context()); err == nil {
		t.Error("ready without a database")
	}
	if got := sitetest.Acquired(t, s, "x"); got != name {
		t.Errorf("%q answers", got)
	}
	sitetest.Create(t, other, late)
	sitetest.Configure(t, other, late, "hosts", `["late.example"]`)
	gate.open()
	eventually(t, "the new site answers", func() bool {
		s.Refresh(t.Context())
		return sitetest.Acquired(t, s, "late.example") == late
	})
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// gate is a way to PostgreSQL that can be closed.
type gate struct {
	t        *testing.T
	url      string
	to       string
	listener net.Listener

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

func newGate(t *testing.T, database string) *gate {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, to: u.Host}
	if g.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u.Host = g.listener.Addr().String()
	g.url = u.String()
	t.Cleanup(func() { g.listener.Close(); g.close() })
	go g.run()
	return g
}

func (g *gate) run() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", g.to)
		g.mu.Lock()
		if g.shut || err != nil {
			in.Close()
			if err == nil {
				out.Close()
			}
			g.mu.Unlock()
			continue
		}
		g.conns = append(g.conns, in, out)
		g.mu.Unlock()
		go func() { _, _ = io.Copy(in, out) }()
		go func() { _, _ = io.Copy(out, in) }()
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}

// TestCatchUpEnds: a request to a site that is being looked at waits no longer
// than its client.
func TestCatchUpEnds(t *testing.T) {
	plugins := &stuckPlugins{countingPlugins: countingPlugins{open: map[string]int{}}, asked: make(chan struct{}, 8), goOn: make(chan struct{})}
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { c.Plugins = plugins })
	sitetest.Create(t, s, "default")
	<-plugins.asked // while it was opened
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { s.Poll(ctx) })
	eventually(t, "nobody looks at the site any more", func() bool { return !s.Tenant("default").Active() })
	stop()
	polling.Wait()
	plugins.stuck.Store(true)
	r := httptest.NewRequest("GET", "/", nil)
	var first sync.WaitGroup
	first.Go(func() {
		if _, release, err := s.Acquire(t.Context(), "x", r); err == nil {
			release()
		}
	})
	<-plugins.asked
	brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	left := make(chan struct{})
	go func() {
		defer close(left)
		if _, release, err := s.Acquire(brief, "x", r); err == nil {
			release()
		}
	}()
	select {
	case <-left: // while the look goes on, which has no end yet
	case <-time.After(2 * time.Minute):
		t.Error("a client that left goes on waiting")
	}
	if !plugins.deadline.Load() {
		t.Error("the look has no end")
	}
	close(plugins.goOn)
	first.Wait()
}

// stuckPlugins opens plugins that take their time.
type stuckPlugins struct {
	countingPlugins
	stuck, deadline atomic.Bool
	asked, goOn     chan struct{}
}

func (p *stuckPlugins) Open(ctx context.Context, on *tenant.Tenant) (tenant.PluginSite, error) {
	s, err := p.countingPlugins.Open(ctx, on)
	return stuckSite{s, p}, err
}

// stuckSite takes its time.
type stuckSite struct {
	tenant.PluginSite
	p *stuckPlugins
}

func (s stuckSite) Refresh(ctx context.Context) {
	p := s.p
	p.asked <- struct{}{}
	if p.stuck.Load() {
		_, has := ctx.Deadline()
		p.deadline.Store(has)
		<-p.goOn
	}
}
