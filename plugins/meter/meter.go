// Package meter counts what the calls of plugins cost, for Prometheus.
//
// A call is counted for its plugin and method; the handler of an event counts
// under the event's key, such as ToDo.validate. Sites are told apart in the log
// and by Tallies, not here: a series per site and method would be many.
package meter

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"armature/core/fault"
	"armature/runtime/engine"
)

// Meter counts the calls of all plugins of a process.
type Meter struct {
	calls, errors, yields, hostCalls, resetPages, fresh *prometheus.CounterVec
	wall, queued, fuel                                  *prometheus.HistogramVec
	memory                                              *prometheus.GaugeVec
}

var labels = []string{"plugin", "method"}

// New makes a meter that reg shows.
func New(reg prometheus.Registerer) *Meter {
	counter := func(name, help string, more ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "armature", Subsystem: "plugin", Name: name, Help: help}, append(labels[:2:2], more...))
		reg.MustRegister(v)
		return v
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "armature", Subsystem: "plugin", Name: name, Help: help, Buckets: buckets}, labels)
		reg.MustRegister(v)
		return v
	}
	m := &Meter{
		calls:      counter("calls_total", "Calls that ended."),
		errors:     counter("errors_total", "Calls that failed, by exc_type.", "type"),
		yields:     counter("yields_total", "How often a guest was interrupted to check its limits."),
		hostCalls:  counter("host_calls_total", "Host functions called."),
		resetPages: counter("reset_pages_total", "Pages copied back to bring instances to their pristine state."),
		fresh:      counter("fresh_instances_total", "Calls that made an instance: none was idle, or the module cannot be restored."),
		wall:       histogram("wall_seconds", "Time on the clock, waiting included.", prometheus.ExponentialBuckets(50e-6, 4, 10)),
		queued:     histogram("queue_seconds", "Time waited for a share of the processor.", prometheus.ExponentialBuckets(50e-6, 4, 10)),
		fuel:       histogram("fuel", "Instructions executed.", prometheus.ExponentialBuckets(1e3, 8, 9)),
	}
	m.memory = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "armature", Subsystem: "plugin", Name: "memory_peak_bytes", Help: "The largest linear memory of a call so far."}, labels)
	reg.MustRegister(m.memory)
	return m
}

// Calls counts the calls of one method. A nil one counts nothing.
type Calls struct {
	meter          *Meter
	plugin, method string

	calls, yields, hostCalls, resetPages, fresh prometheus.Counter
	wall, queued, fuel                          prometheus.Observer
	memory                                      prometheus.Gauge
	peak                                        atomic.Uint64
}

// Of returns the counters of one method; nil from a nil meter.
func (m *Meter) Of(plugin, method string) *Calls {
	if m == nil {
		return nil
	}
	return &Calls{
		meter: m, plugin: plugin, method: method,
		calls:      m.calls.WithLabelValues(plugin, method),
		yields:     m.yields.WithLabelValues(plugin, method),
		hostCalls:  m.hostCalls.WithLabelValues(plugin, method),
		resetPages: m.resetPages.WithLabelValues(plugin, method),
		fresh:      m.fresh.WithLabelValues(plugin, method),
		wall:       m.wall.WithLabelValues(plugin, method),
		queued:     m.queued.WithLabelValues(plugin, method),
		fuel:       m.fuel.WithLabelValues(plugin, method),
		memory:     m.memory.WithLabelValues(plugin, method),
	}
}

// Done counts a call that has ended; err is nil or what it failed with.
func (c *Calls) Done(u engine.Usage, err error) {
	if c == nil {
		return
	}
	c.calls.Inc()
	c.yields.Add(float64(u.Yields))
	c.hostCalls.Add(float64(u.HostCalls))
	c.resetPages.Add(float64(u.ResetPages))
	if u.Fresh {
		c.fresh.Inc()
	}
	c.wall.Observe(u.Wall.Seconds())
	c.queued.Observe(u.Queued.Seconds())
	c.fuel.Observe(float64(u.Fuel))
	for old := c.peak.Load(); u.MemoryPeak > old; old = c.peak.Load() {
		if c.peak.CompareAndSwap(old, u.MemoryPeak) {
			c.memory.Set(float64(u.MemoryPeak))
		}
	}
	if err != nil {
		c.meter.errors.WithLabelValues(c.plugin, c.method, typeOf(err)).Inc()
	}
}

// typeOf is the exc_type of an error. One that a guest has made up counts as its
// kind's: guests must not make series.
func typeOf(err error) string { return fault.KindOf(err).ExcType() }

// Forget takes the series of a plugin away.
func (m *Meter) Forget(plugin string) {
	if m == nil {
		return
	}
	match := prometheus.Labels{"plugin": plugin}
	for _, v := range []*prometheus.CounterVec{m.calls, m.errors, m.yields, m.hostCalls, m.resetPages, m.fresh} {
		v.DeletePartialMatch(match)
	}
	for _, v := range []*prometheus.HistogramVec{m.wall, m.queued, m.fuel} {
		v.DeletePartialMatch(match)
	}
	m.memory.DeletePartialMatch(match)
}
