package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"armature/core/account"
)

// accountCollector shows an account of memory as it stands.
type accountCollector struct {
	stats                              func() account.Stats
	total, peak, held, waited, refused *prometheus.Desc
}

// ShowAccount has reg show the account of the process's memory.
func ShowAccount(reg prometheus.Registerer, stats func() account.Stats) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("armature", "memory", name), help, labels, nil)
	}
	reg.MustRegister(&accountCollector{
		stats:   stats,
		total:   desc("total_bytes", "Memory that may be charged."),
		peak:    desc("peak_bytes", "The most that was ever charged."),
		held:    desc("held_bytes", "Memory that is charged, by what it is for.", "kind"),
		waited:  desc("waits_total", "Charges that found no memory free and waited."),
		refused: desc("refusals_total", "Charges that waited in vain; each is an answer 503."),
	})
}

// Describe implements prometheus.Collector.
func (c *accountCollector) Describe(out chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, out)
}

// Collect implements prometheus.Collector.
func (c *accountCollector) Collect(out chan<- prometheus.Metric) {
	s := c.stats()
	gauge := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	gauge(c.total, s.Total)
	gauge(c.peak, s.Peak)
	for kind, n := range s.Held {
		gauge(c.held, n, kind.String())
	}
	out <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, float64(s.Waited))
	out <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(s.Refused))
}
