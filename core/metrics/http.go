package metrics

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// HTTP counts requests by kind of route, verb and status. Paths, users and sites
// are told apart in the log, not here: a series for each would be many.
type HTTP struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
}

// NewHTTP makes a counter of requests that reg shows.
func NewHTTP(reg prometheus.Registerer) *HTTP {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "armature", Subsystem: "http", Name: name, Help: help}
	}
	h := &HTTP{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts(opts("requests_total", "Requests that ended.")), []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "armature", Subsystem: "http", Name: "request_seconds", Help: "Time from the arrival to the end of the answer.",
			Buckets: prometheus.ExponentialBuckets(250e-6, 4, 9), // to 16 s
		}, []string{"route"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts(opts("requests_running", "Requests that are being served."))),
	}
	reg.MustRegister(h.requests, h.seconds, h.running)
	return h
}

// Begin counts a request that has arrived.
func (h *HTTP) Begin() { h.running.Inc() }

// End counts what has become of it.
func (h *HTTP) End(route, verb string, status int, took time.Duration) {
	h.running.Dec()
	h.requests.WithLabelValues(route, known(verb), code(status)).Inc()
	h.seconds.WithLabelValues(route).Observe(took.Seconds())
}

var verbs = []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}

// known keeps clients from making a series of every verb they can think of.
func known(verb string) string {
	if slices.Contains(verbs, verb) {
		return verb
	}
	return "other"
}

func code(status int) string {
	switch status {
	case 200:
		return "200"
	case 0:
		return "none" // the connection broke before there was an answer
	}
	return strconv.Itoa(status)
}
