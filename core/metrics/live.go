package metrics

import "github.com/prometheus/client_golang/prometheus"

// LiveCounts is what /metrics shows of the streams over which clients are told what
// changes.
type LiveCounts struct {
	Streams, Events, Gaps, Refused, Evaluated int64 // Streams now, the others since the start
}

// ShowLive has reg show what counts says at each look.
func ShowLive(reg prometheus.Registerer, counts func() LiveCounts) {
	counter := func(name, help string, n func(LiveCounts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "armature", Subsystem: "live", Name: name, Help: help},
			func() float64 { return float64(n(counts())) })
	}
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "armature", Subsystem: "live", Name: "streams",
			Help: "Streams of live changes that are open."}, func() float64 { return float64(counts().Streams) }),
		counter("events_total", "Events that subscribers were sent.", func(c LiveCounts) int64 { return c.Events }),
		counter("gaps_total", "Subscribers who were told that they have missed something.", func(c LiveCounts) int64 { return c.Gaps }),
		counter("refused_total", "Streams that were refused, since there were too many.", func(c LiveCounts) int64 { return c.Refused }),
		counter("evaluations_total", "Lists and documents that were read to find out what subscribers may be told.", func(c LiveCounts) int64 { return c.Evaluated }),
	)
}
