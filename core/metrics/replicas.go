package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Replica is what is known of a database server that follows the primary.
type Replica struct {
	Server string        // host and port
	Used   bool          // false: it is left out
	Bytes  int64         // of the primary's log that it has not replayed; below 0: not known
	Age    time.Duration // how old what it has is at most; below 0: not known
	Reads  int64         // that it has answered
	Again  int64         // that it failed at
}

// replicaCollector shows the replicas as they are.
type replicaCollector struct {
	stats                          func() (replicas []Replica, primary int64)
	used, bytes, age, reads, again *prometheus.Desc
}

// ShowReplicas has reg show the replicas of a database, and how many reads that might
// have gone to one went to the primary.
func ShowReplicas(reg prometheus.Registerer, stats func() (replicas []Replica, primary int64)) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("armature_database_"+name, help, []string{"server"}, nil)
	}
	reg.MustRegister(&replicaCollector{
		stats: stats,
		used:  desc("replica_used", "1 while the replica is read from, 0 while it is lost or too far behind."),
		bytes: desc("replica_lag_bytes", "Bytes of the primary's log that the replica has not replayed."),
		age:   desc("replica_lag_seconds", "How old what the replica has is at most; a tenth or two when it has everything."),
		reads: desc("reads_total", "Documents and lists that were read, by the server that answered: the primary, or a replica."),
		again: desc("replica_failures_total", "Reads that a replica failed at, which the primary then answered."),
	})
}

// Describe implements prometheus.Collector.
func (c *replicaCollector) Describe(out chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, out)
}

// Collect implements prometheus.Collector.
func (c *replicaCollector) Collect(out chan<- prometheus.Metric) {
	replicas, primary := c.stats()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, server string) {
		out <- prometheus.MustNewConstMetric(d, kind, v, server)
	}
	send(c.reads, prometheus.CounterValue, float64(primary), "primary")
	for _, r := range replicas {
		used := 0.0
		if r.Used {
			used = 1
		}
		send(c.used, prometheus.GaugeValue, used, r.Server)
		if r.Bytes >= 0 {
			send(c.bytes, prometheus.GaugeValue, float64(r.Bytes), r.Server)
		}
		if r.Age >= 0 {
			send(c.age, prometheus.GaugeValue, r.Age.Seconds(), r.Server)
		}
		send(c.reads, prometheus.CounterValue, float64(r.Reads), r.Server)
		send(c.again, prometheus.CounterValue, float64(r.Again), r.Server)
	}
}
