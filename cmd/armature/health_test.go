package main_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
)

func TestMetrics(t *testing.T) {
	in := armaturetest.New(t)
	s := in.Serve("--metrics-token", "of the collector")
	s.Auth = in.Keys("Administrator")
	s.Want("GET", "/api/resource/ToDo", nil)
	get := func(path string, header map[string]string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range header {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	forwarded := map[string]string{"X-Forwarded-For": "192.0.2.7"}
	if status, text := get("/metrics", forwarded); status != http.StatusForbidden || strings.Contains(text, "armature_") {
		t.Errorf("through a proxy: %d %s", status, text)
	}
	forwarded["Authorization"] = "Bearer of the collector"
	for _, header := range []map[string]string{nil, forwarded} {
		status, text := get("/metrics", header)
		if status != http.StatusOK || !strings.Contains(text, `armature_http_requests_total{method="GET",route="list",status="200"} 1`) {
			t.Errorf("with %v: %d %s", header, status, text)
		}
	}
}

// TestReadyFollowsTheDatabase cuts the server off from PostgreSQL and lets it
// back.
func TestReadyFollowsTheDatabase(t *testing.T) {
	database := os.Getenv("ARMATURE_TEST_POSTGRES")
	switch {
	case database == "" && os.Getenv("CI") != "":
		t.Fatal("ARMATURE_TEST_POSTGRES is not set")
	case database == "":
		t.Skip("ARMATURE_TEST_POSTGRES is not set")
	}
	u, err := url.Parse(armaturetest.NewDatabase(t, database))
	if err != nil {
		t.Fatal(err)
	}
	wire := newWire(t, u.Host)
	u.Host = wire.addr
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: u.String()}
	s := in.Serve()
	status := func(path string) int {
		n, _ := s.CallAs("", "GET", path, nil)
		return n
	}
	if n := status("/readyz"); n != http.StatusOK {
		t.Fatalf("at first: %d", n)
	}
	wire.cut()
	armaturetest.Eventually(t, "without its database it is not ready", func() bool { return status("/readyz") == http.StatusServiceUnavailable })
	if n := status("/healthz"); n != http.StatusOK {
		t.Errorf("it is not alive: %d", n)
	}
	wire.mend()
	armaturetest.Eventually(t, "with its database it is ready", func() bool { return status("/readyz") == http.StatusOK })
}

// wire passes connections on, until it is cut.
type wire struct {
	addr string

	mu     sync.Mutex
	broken bool
	conns  []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: l.Addr().String()}
	t.Cleanup(func() {
		l.Close()
		w.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.pass(c, to)
		}
	}()
	return w
}

func (w *wire) pass(c net.Conn, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	far, err := net.Dial("tcp", to)
	if w.broken || err != nil {
		c.Close()
		if err == nil {
			far.Close()
		}
		return
	}
	w.conns = append(w.conns, c, far)
	for _, pair := range [][2]net.Conn{{c, far}, {far, c}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			pair[0].Close()
		}()
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = false
}
