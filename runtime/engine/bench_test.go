package engine_test

import (
	"testing"

	"armature/runtime/engine"
)

func BenchmarkCall(b *testing.B) {
	for _, method := range []string{"echo", "json", "count", "loop"} {
		b.Run("go/"+method, func(b *testing.B) {
			m := load(b, newEngine(b, engine.Config{}), mustGoGuest(b))
			benchmarkCall(b, m, method)
		})
	}
}

func benchmarkCall(b *testing.B, m *engine.Module, method string) {
	x := &exchange{in: request}
	arg := int32(len(request))
	if method == "loop" {
		arg = 100_000
	}
	var c engine.Call
	var usage engine.Usage
	b.ReportAllocs()
	for b.Loop() {
		c = engine.Call{Export: method, Arg: arg, State: x}
		var err error
		if usage, err = m.Call(b.Context(), &c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(usage.Fuel), "fuel/op")
	b.ReportMetric(float64(usage.ResetPages), "pages/op")
}
