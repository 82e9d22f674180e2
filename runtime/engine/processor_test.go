package engine_test

import (
	"errors"
	"testing"
	"time"

	"armature/runtime/engine"
)

// TestProcessorTime: a guest whose instructions are slow ends by the time it has used,
// with most of its fuel left; with what it has used as its fuel, and no such time, it
// ends in the same place.
func TestProcessorTime(t *testing.T) {
	const fuel = 80_000_000 // 20 ms; an empty loop needs several times as long for it
	run := func(limit uint64, byTime bool) (engine.Usage, error) {
		e := newEngine(t, engine.Config{ProcessorTime: byTime})
		m := load(t, e, misbehaving(t))
		usage, err := m.Call(t.Context(), &engine.Call{Export: "spin", Limits: engine.Limits{Fuel: limit, Wall: time.Minute}})
		healthy(t, m)
		return usage, err
	}
	outOfFuel := func(err error) string {
		t.Helper()
		var e *engine.Error
		if !errors.As(err, &e) || e.Reason != engine.OutOfFuel {
			t.Fatalf("it ended with %v", err)
		}
		return e.Error()
	}
	usage, err := run(fuel, true)
	said := outOfFuel(err)
	if usage.Fuel >= fuel/2 {
		t.Errorf("it used %d of %d units", usage.Fuel, fuel)
	}
	again, err := run(usage.Fuel, false)
	if outOfFuel(err) != said || again.Fuel != usage.Fuel {
		t.Errorf("again it used %d units, not %d: %v, not %s", again.Fuel, usage.Fuel, err, said)
	}
	if whole, err := run(fuel, false); whole.Fuel < fuel {
		t.Errorf("by fuel alone it used %d of %d units: %v", whole.Fuel, fuel, err)
	}
}
