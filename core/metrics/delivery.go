package metrics

import "github.com/prometheus/client_golang/prometheus"

// CountDeliveries has reg show what is sent from sites by jobs, and returns what counts
// one: kind is webhook or mail, result what became of it.
func CountDeliveries(reg prometheus.Registerer) func(kind, result string) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "armature", Name: "deliveries_total", Help: "Webhooks and letters that jobs have sent, failed to send, or that were refused.",
	}, []string{"kind", "result"})
	reg.MustRegister(counter)
	return func(kind, result string) { counter.WithLabelValues(kind, result).Inc() }
}
