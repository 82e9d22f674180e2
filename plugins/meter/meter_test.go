package meter_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"armature/core/fault"
	"armature/plugins/meter"
	"armature/runtime/engine"
)

func TestMeter(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := meter.New(reg)
	c := m.Of("acme.a", "acme.a.run")
	c.Done(engine.Usage{Fuel: 5000, Wall: time.Millisecond, MemoryPeak: 100, HostCalls: 2, ResetPages: 3, Fresh: true}, nil)
	c.Done(engine.Usage{MemoryPeak: 50}, fault.Invalid("MadeUp", "no"))
	want := map[string]float64{
		"armature_plugin_calls_total": 2, "armature_plugin_errors_total": 1, "armature_plugin_host_calls_total": 2,
		"armature_plugin_reset_pages_total": 3, "armature_plugin_fresh_instances_total": 1, "armature_plugin_memory_peak_bytes": 100,
		"armature_plugin_wall_seconds": 2, "armature_plugin_fuel": 2, "armature_plugin_queue_seconds": 2, "armature_plugin_yields_total": 0,
	}
	if got := gather(t, reg); len(got) != len(want) {
		t.Errorf("series %v", got)
	} else {
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s is %v, want %v", name, got[name], v)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { c.Done(engine.Usage{Fuel: 1}, nil) }); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
	m.Forget("acme.a")
	if got := gather(t, reg); len(got) != 0 {
		t.Errorf("after Forget: %v", got)
	}
	var none *meter.Meter
	none.Of("a", "b").Done(engine.Usage{}, nil)
}

// gather adds up every series by name; of a histogram it is the count.
func gather(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			got[f.GetName()] += s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
	}
	return got
}
