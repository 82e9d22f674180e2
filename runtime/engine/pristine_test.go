package engine_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"armature/runtime/engine"
)

// After thousands of calls of every kind, failing ones included, memory and
// globals of every instance equal the snapshot.
func TestPristine(t *testing.T) {
	const rounds = 2000
	eachMemory(t, func(t *testing.T, memory string) {
		e := newEngine(t, engine.Config{Memory: memory})
		n := rounds
		if memory != "scan" {
			n /= 10
		}
		t.Run("text", func(t *testing.T) {
			m := load(t, e, mustGuest(t, "misbehave"))
			rnd := rand.New(rand.NewPCG(1, 1))
			for i := range n {
				test := misbehaviours[rnd.IntN(len(misbehaviours))]
				limits := test.limits
				limits.Fuel = min(limits.Fuel, 3_000_000)
				if test.reason == engine.Deadline || test.reason == engine.HostCalls {
					limits.Fuel = 3_000_000
				}
				_, err := m.Call(t.Context(), &engine.Call{
					Export: test.export, Limits: limits, State: &exchange{in: make([]byte, 4096)},
				})
				if err == nil {
					t.Fatalf("%s succeeded", test.export)
				}
				if i%20 == 0 {
					engine.Pristine(t, m)
				}
			}
			if engine.Pristine(t, m) != 1 {
				t.Error("the one instance is not idle")
			}
			healthy(t, m)
		})
		t.Run("go", func(t *testing.T) {
			m := load(t, e, mustGoGuest(t))
			calls := []engine.Call{
				{Export: "echo", Arg: int32(len(request))}, {Export: "json", Arg: int32(len(request))},
				{Export: "count"}, {Export: "grow", Arg: 3}, {Export: "boom"}, {Export: "recurse", Arg: 500},
				{Export: "spin", Limits: engine.Limits{Fuel: 2_000_000}}, {Export: "print"}, {Export: "loop", Arg: 1000},
				{Export: "hog", Limits: engine.Limits{Memory: 8 << 20}}, {Export: "recurse", Arg: 1 << 30},
			}
			for i := range n / 2 { // half of them, since some take milliseconds
				c := calls[i%len(calls)]
				c.State = &exchange{in: request}
				_, err := m.Call(t.Context(), &c)
				var failed *engine.Error
				if err != nil && !errors.As(err, &failed) {
					t.Fatal(err)
				}
				if c.Export == "count" && c.Result != 1 {
					t.Fatalf("call %d counts %d", i, c.Result)
				}
				if i%50 < len(calls) {
					engine.Pristine(t, m)
				}
			}
		})
	})
}

// Many goroutines, two of them always with other secrets: nobody sees anything
// of anybody else.
func TestConcurrentCallsAreApart(t *testing.T) {
	e := newEngine(t, engine.Config{})
	for _, name := range []string{"text", "c", "go"} {
		t.Run(name, func(t *testing.T) {
			m := load(t, e, guestBinary(t, name))
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					x := &exchange{in: request}
					want := `{"ok":true,"data":` + string(document) + "}"
					for range 300 {
						if _, err := m.Call(t.Context(), &engine.Call{Export: "echo", Arg: int32(len(request)), State: x}); err != nil || string(x.out) != want {
							t.Errorf("goroutine %d: %q, %v", g, x.out, err)
							return
						}
						c := &engine.Call{Export: "count"}
						if _, err := m.Call(t.Context(), c); err != nil || c.Result > 2 {
							t.Errorf("goroutine %d counts %d, %v", g, c.Result, err)
							return
						}
					}
				})
			}
			wg.Wait()
			if n := engine.Pristine(t, m); n == 0 || n > 9 {
				t.Errorf("%d instances", n)
			}
		})
	}
}
