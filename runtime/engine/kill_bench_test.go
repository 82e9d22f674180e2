package engine_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"armature/runtime/engine"
)

// BenchmarkKill reports how long past its deadline a guest that never ends by
// itself still ran: the reset and the slots of others included, as its caller
// sees it.
func BenchmarkKill(b *testing.B) {
	const wall = 2 * time.Millisecond
	guests := []struct {
		name, export string
		wasm         func(testing.TB) []byte
	}{
		{"text/spin", "spin", misbehaving}, {"text/tree", "tree", misbehaving}, {"text/fill", "fill", misbehaving},
		{"c/spin", "spin", mustCGuest}, {"go/spin", "spin", mustGoGuest},
	}
	e := newEngine(b, engine.Config{})
	for _, g := range guests {
		b.Run(g.name, func(b *testing.B) {
			m := load(b, e, g.wasm(b))
			var late []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := m.Call(b.Context(), &engine.Call{Export: g.export, Limits: engine.Limits{Fuel: math.MaxUint64, Wall: wall}})
				took := time.Since(began)
				var failed *engine.Error
				if !errors.As(err, &failed) || failed.Reason != engine.Deadline {
					b.Fatal(err)
				}
				late = append(late, took-wall)
			}
			slices.Sort(late)
			us := func(share float64) float64 { return float64(late[int(share*float64(len(late)-1))]) / 1000 }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(us(0.5), "µs-late-p50")
			b.ReportMetric(us(0.99), "µs-late-p99")
			b.ReportMetric(us(1), "µs-late-max")
		})
	}
}

func misbehaving(tb testing.TB) []byte { return mustGuest(tb, "misbehave") }
