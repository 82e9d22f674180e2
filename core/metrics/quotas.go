package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Amount is one quota of a site and how much of it is used.
type Amount struct{ Used, Quota int64 }

// Quotas shows what sites have of what they have quotas for: of those that are open,
// as far as it was measured lately. A site without quotas makes no series.
type Quotas struct {
	used, quota *prometheus.Desc

	mu    sync.Mutex
	sites map[string]func() map[string]Amount
}

// NewQuotas makes a collector that reg shows.
func NewQuotas(reg prometheus.Registerer) *Quotas {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("armature_site_"+name, help, []string{"site", "resource"}, nil)
	}
	q := &Quotas{
		used:  desc("quota_used", "How much an open site has of what it has a quota for, as measured last."),
		quota: desc("quota", "How much the site may have."),
		sites: map[string]func() map[string]Amount{},
	}
	reg.MustRegister(q)
	return q
}

// Follow shows a site, whose amounts are asked for at each look, until stop is called.
func (q *Quotas) Follow(site string, amounts func() map[string]Amount) (stop func() error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sites[site] = amounts
	return func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.sites, site)
		return nil
	}
}

// Describe implements prometheus.Collector.
func (q *Quotas) Describe(to chan<- *prometheus.Desc) { to <- q.used; to <- q.quota }

// Collect implements prometheus.Collector.
func (q *Quotas) Collect(to chan<- prometheus.Metric) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for site, amounts := range q.sites {
		for resource, a := range amounts() {
			to <- prometheus.MustNewConstMetric(q.used, prometheus.GaugeValue, float64(a.Used), site, resource)
			to <- prometheus.MustNewConstMetric(q.quota, prometheus.GaugeValue, float64(a.Quota), site, resource)
		}
	}
}
