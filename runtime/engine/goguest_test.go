package engine_test

import (
	"errors"
	"testing"
	"time"

	"armature/runtime/engine"
)

// number calls a function of the Go guest that takes an argument and returns a
// number.
func number(t *testing.T, m *engine.Module, export string, arg int32) int64 {
	t.Helper()
	c := &engine.Call{Export: export, Arg: arg}
	if _, err := m.Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return int64(c.Result)
}

func TestRandomnessAndTimeAreFresh(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	m := load(t, newEngine(t, engine.Config{Now: func() time.Time { return now }}), mustGoGuest(t))

	if a, b := number(t, m, "cryptorandom", 0), number(t, m, "cryptorandom", 0); a == b {
		t.Error("the host's randomness repeats")
	}
	// A generator that the guest seeded before its snapshot starts every call in
	// the same state: known, documented, and the reason for armature_resume.
	if a, b := number(t, m, "mathrandom", 0), number(t, m, "mathrandom", 0); a != b {
		t.Error("math/rand is expected to repeat")
	}
	before := number(t, m, "clock", 0)
	now = now.Add(time.Hour)
	if passed := number(t, m, "clock", 0) - before; passed < int64(time.Hour) || passed > int64(time.Hour+time.Minute) {
		t.Errorf("an hour is %d ns to the guest", passed)
	}
}

func TestSleep(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGoGuest(t))
	if _, err := m.Call(t.Context(), &engine.Call{Export: "nap", Arg: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := m.Call(t.Context(), &engine.Call{Export: "nap", Arg: 3_600_000, Limits: engine.Limits{Wall: 10 * time.Millisecond}})
	var e *engine.Error
	if !errors.As(err, &e) || e.Reason != engine.Deadline {
		t.Fatalf("a long nap: %v", err)
	}
}

func TestGoGuestLimits(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGoGuest(t))
	tests := []struct {
		export string
		arg    int32
		limits engine.Limits
		reason engine.Reason
	}{
		{"hog", 0, engine.Limits{Memory: 16 << 20}, engine.OutOfMemory},
		{"spin", 0, engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel},
		{"recurse", 1 << 30, engine.Limits{}, engine.TooDeep},
		{"boom", 0, engine.Limits{}, engine.Trap},
	}
	for _, test := range tests {
		t.Run(test.export, func(t *testing.T) {
			usage, err := m.Call(t.Context(), &engine.Call{Export: test.export, Arg: test.arg, Limits: test.limits})
			var e *engine.Error
			if !errors.As(err, &e) || e.Reason != test.reason {
				t.Fatalf("%v; want %v; %+v", err, test.reason, usage)
			}
			if n := number(t, m, "count", 0); n != 1 {
				t.Errorf("the next call counts %d", n)
			}
		})
	}
}
