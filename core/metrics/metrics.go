// Package metrics shows what the server counts, as Prometheus reads it.
package metrics

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds everything that a process counts.
type Metrics struct {
	Registry *prometheus.Registry

	token string
	pages http.Handler
}

// New makes the metrics of a process, with those of the Go runtime. token is
// what a reader from elsewhere than this machine presents; empty: nobody may.
func New(token string) *Metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Metrics{
		Registry: r, token: token,
		pages: promhttp.HandlerFor(r, promhttp.HandlerOpts{}),
	}
}

// Build says which program runs: its version, the commit it was built of as far as
// the binary knows it, and its compiler. It is called once.
func (m *Metrics) Build(version string) {
	labels := prometheus.Labels{"version": version, "revision": "", "goversion": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				labels["revision"] = s.Value
			}
		}
	}
	promauto.With(m.Registry).NewGauge(prometheus.GaugeOpts{
		Name: "armature_build_info", Help: "Which program runs: always 1.", ConstLabels: labels,
	}).Set(1)
}

// Path is where the metrics are.
const Path = "/metrics"

// Beside returns a handler with the metrics at Path and next everywhere else.
func (m *Metrics) Beside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != Path:
			next.ServeHTTP(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case !m.may(r):
			http.Error(w, "the metrics are for this machine, or for who has the token", http.StatusForbidden)
		default:
			m.pages.ServeHTTP(w, r)
		}
	})
}

// may reports whether the request presents the token or comes from this machine.
// One that a proxy has passed on comes from elsewhere, wherever the proxy runs;
// and a page in a browser on this machine that found a name for it is no reader.
func (m *Metrics) may(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && m.token != "" {
		return subtle.ConstantTimeCompare([]byte(given), []byte(m.token)) == 1
	}
	return loopback(r.RemoteAddr) && loopback(r.Host) && !passedOn(r)
}

// passedOn reports whether the request shows signs of a proxy. nginx adds no
// header by itself, but speaks HTTP/1.0 unless it is told otherwise.
func passedOn(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if _, there := r.Header[name]; there {
			return true
		}
	}
	return !r.ProtoAtLeast(1, 1)
}

// loopback reports whether an address, with or without a port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}
