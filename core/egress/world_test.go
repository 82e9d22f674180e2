package egress_test

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"armature/core/egress"
	"armature/core/fault"
)

// world is a server on loopback, names for it and a client.
type world struct {
	*testing.T
	names   *names
	client  *egress.Client
	server  *httptest.Server
	port    string
	dialled atomic.Int32 // connections that reached the server
}

func newWorld(t *testing.T, handler http.HandlerFunc) *world {
	t.Helper()
	w := &world{T: t, names: newNames(t)}
	w.server = httptest.NewUnstartedServer(handler)
	w.server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			w.dialled.Add(1)
		}
	}
	w.server.Start()
	w.start(nil)
	return w
}

func newTLSWorld(t *testing.T, trusted bool, handler http.HandlerFunc) *world {
	t.Helper()
	w := &world{T: t, names: newNames(t), server: httptest.NewUnstartedServer(handler)}
	w.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it reports refused certificates
	w.server.StartTLS()
	roots := x509.NewCertPool()
	if trusted {
		roots.AddCert(w.server.Certificate())
	}
	w.start(roots)
	return w
}

func (w *world) start(roots *x509.CertPool) {
	u, err := url.Parse(w.server.URL)
	if err != nil {
		w.Fatal(err)
	}
	w.port = u.Port()
	w.names.set("app.test", "127.0.0.1")
	w.client = egress.New(egress.Config{Resolver: w.names.resolver(), RootCAs: roots})
	w.Cleanup(w.client.Close)
	w.Cleanup(w.server.Close)
}

// url is a URL of the server under a name.
func (w *world) url(host, path string) string { return "http://" + host + ":" + w.port + path }

// hosts are names at the server's port.
func (w *world) hosts(names ...string) egress.Hosts {
	w.Helper()
	for i, n := range names {
		names[i] = n + ":" + w.port
	}
	h, err := egress.ParseHosts(names...)
	if err != nil {
		w.Fatal(err)
	}
	return h
}

// policy allows app.test on loopback.
func (w *world) policy() egress.Policy {
	p := egress.DefaultPolicy(w.hosts("app.test"))
	p.Private = p.Allowed
	return p
}

func (w *world) do(p egress.Policy, r egress.Request) *egress.Response {
	w.Helper()
	resp, err := w.client.Do(w.Context(), p, r)
	if err != nil {
		w.Fatal(err)
	}
	return resp
}

func (w *world) get(p egress.Policy, path string) *egress.Response {
	w.Helper()
	return w.do(p, egress.Request{URL: w.url("app.test", path)})
}

// refused makes a request which must fail in a way, and whose message must speak
// of no address.
func (w *world) refused(kind fault.Kind, p egress.Policy, r egress.Request) string {
	w.Helper()
	resp, err := w.client.Do(w.Context(), p, r)
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind {
		w.Fatalf("%s %s: answer %v, error %v; want kind %d", r.Method, r.URL, resp, err, kind)
	}
	for _, secret := range []string{"127.0.0", "::1", "10.0.0", "169.254", "dial", "lookup", "inside"} {
		if strings.Contains(f.Message, secret) && !strings.Contains(r.URL, secret) {
			w.Errorf("the message tells of %s: %s", secret, f.Message)
		}
	}
	return f.Message
}
