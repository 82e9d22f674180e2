package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// JobCounts is what /metrics shows of the jobs of all sites of a process.
type JobCounts struct {
	Running, Waiting                 int64 // now; Waiting of open sites, as looked at last
	Succeeded, Stepped, Failed, Died int64 // turns since the start
	Lag                              time.Duration
}

// ShowJobs has reg show what counts says at each look.
func ShowJobs(reg prometheus.Registerer, counts func() JobCounts) {
	turns := func(result string, n func(JobCounts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "armature", Subsystem: "jobs", Name: "turns_total", ConstLabels: prometheus.Labels{"result": result},
			Help: "Turns of jobs that ended: done, a step, failed and tried again, dead.",
		}, func() float64 { return float64(n(counts())) })
	}
	gauge := func(name, help string, n func(JobCounts) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "armature", Subsystem: "jobs", Name: name, Help: help}, func() float64 { return n(counts()) })
	}
	reg.MustRegister(
		turns("done", func(c JobCounts) int64 { return c.Succeeded }), turns("step", func(c JobCounts) int64 { return c.Stepped }),
		turns("failed", func(c JobCounts) int64 { return c.Failed }), turns("dead", func(c JobCounts) int64 { return c.Died }),
		gauge("running", "Jobs that run.", func(c JobCounts) float64 { return float64(c.Running) }),
		gauge("pending", "Jobs that wait, of the sites with some that are due, as counted in the last seconds.", func(c JobCounts) float64 { return float64(c.Waiting) }),
		gauge("lag_seconds", "How long the job has been due that is due longest.", func(c JobCounts) float64 { return c.Lag.Seconds() }),
	)
}
