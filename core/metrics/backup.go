package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Backups counts the archives that are made of sites by schedule. Sites are told
// apart in the log and by site doctor: here are how many fail, and the oldest.
type Backups struct {
	runs    *prometheus.CounterVec
	seconds prometheus.Histogram
	bytes   prometheus.Counter

	mu    sync.Mutex
	sites map[string]backupState
}

type backupState struct {
	done   time.Time // zero: never
	failed bool
}

// NewBackups makes a counter of backups that reg shows.
func NewBackups(reg prometheus.Registerer) *Backups {
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "armature", Subsystem: "backup", Name: name, Help: help}
	}
	b := &Backups{
		sites: map[string]backupState{},
		runs:  prometheus.NewCounterVec(prometheus.CounterOpts(name("runs_total", "Backups by schedule that ended.")), []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "armature", Subsystem: "backup", Name: "seconds", Help: "Time to make an archive, try it and keep it.",
			Buckets: prometheus.ExponentialBuckets(1, 4, 8), // to 4.5 hours
		}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts(name("bytes_total", "Bytes of the archives that were kept."))),
	}
	b.runs.WithLabelValues("ok")
	b.runs.WithLabelValues("failed")
	reg.MustRegister(b.runs, b.seconds, b.bytes,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts(name("sites_failing", "Sites whose last backup by schedule failed.")), b.failing),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts(name("oldest_timestamp_seconds",
			"When the archive was made of the site whose newest archive is the oldest; 0: a site has none yet.")), b.oldest))
	return b
}

// Ended counts an attempt.
func (b *Backups) Ended(site string, done time.Time, took time.Duration, bytes int64, err error) {
	if err != nil {
		b.runs.WithLabelValues("failed").Inc()
	} else {
		b.runs.WithLabelValues("ok").Inc()
		b.seconds.Observe(took.Seconds())
		b.bytes.Add(float64(bytes))
	}
	b.Known(site, done, err != nil)
}

// Known notes how it stands with a site, whoever backed it up.
func (b *Backups) Known(site string, done time.Time, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sites[site] = backupState{done, failed}
}

// Forget forgets a site.
func (b *Backups) Forget(site string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sites, site)
}

func (b *Backups) failing() (n float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sites {
		if s.failed {
			n++
		}
	}
	return n
}

// oldest is the present where nothing is backed up: there is nothing to be late.
func (b *Backups) oldest() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := time.Now()
	for _, s := range b.sites {
		switch {
		case s.done.IsZero():
			return 0
		case s.done.Before(oldest):
			oldest = s.done
		}
	}
	return float64(oldest.Unix())
}
