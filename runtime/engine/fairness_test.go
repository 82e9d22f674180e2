package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"armature/runtime/engine"
)

// crowd runs n endless guests of a party until stop, and returns when all of them
// run or wait for a slot.
func crowd(tb testing.TB, e *engine.Engine, m *engine.Module, party string, n, waiting int) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for range n {
		work.Go(func() {
			for ctx.Err() == nil {
				_, _ = m.Call(ctx, &engine.Call{Export: "spin", Party: party})
			}
		})
	}
	until(tb, func() bool { return e.Waiting() >= waiting })
	return func() { cancel(); work.Wait() }
}

func middle[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

func until(tb testing.TB, cond func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			tb.Fatal("not within two minutes")
		}
	}
}

// TestFairBetweenParties: one party's guest ends before any of another party's,
// which were many, began before it and have as much to do each.
func TestFairBetweenParties(t *testing.T) {
	for _, slots := range []int{1, 2} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			e := newEngine(t, engine.Config{Slots: slots})
			m := load(t, e, misbehaving(t))
			// A turn is a million, so a call takes sixty.
			spin := func(party string) (engine.Usage, error) {
				return m.Call(t.Context(), &engine.Call{Export: "spin", Party: party, Limits: engine.Limits{Fuel: 60_000_000, Wall: time.Minute}})
			}
			const noisy = 6
			var mu sync.Mutex
			var ended []string
			var work sync.WaitGroup
			run := func(party string) {
				usage, _ := spin(party)
				mu.Lock()
				defer mu.Unlock()
				if ended = append(ended, party); usage.Yields < 50 {
					t.Errorf("a call of %s had %d turns", party, usage.Yields)
				}
			}
			for range noisy {
				work.Go(func() { run("noisy") })
			}
			until(t, func() bool { return e.Waiting() >= noisy-slots })
			work.Go(func() { run("quiet") })
			work.Wait()
			if ended[0] != "quiet" {
				t.Errorf("the calls ended in the order %v", ended)
			}
			if n := e.Parties(); n != 0 || e.Waiting() != 0 {
				t.Errorf("%d parties are remembered, %d calls wait", n, e.Waiting())
			}
		})
	}
}

// BenchmarkNeighbour measures how much longer a call of some milliseconds takes
// while another party keeps many endless guests. With one slot its fair share is
// half of that, so twice as long is right.
func BenchmarkNeighbour(b *testing.B) {
	e := newEngine(b, engine.Config{Slots: 1})
	m := load(b, e, misbehaving(b))
	call := func() {
		_, _ = m.Call(b.Context(), &engine.Call{Export: "spin", Party: "quiet", Limits: engine.Limits{Fuel: 20_000_000, Wall: time.Minute}})
	}
	median := func(n int) time.Duration {
		took := make([]time.Duration, n)
		for i := range took {
			began := time.Now()
			call()
			took[i] = time.Since(began)
		}
		return middle(took)
	}
	for _, noisy := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%d", noisy), func(b *testing.B) {
			var times []float64
			for b.Loop() {
				alone := median(5)
				stop := crowd(b, e, m, "noisy", noisy, noisy-1)
				beside := median(5)
				stop()
				times = append(times, float64(beside)/float64(alone))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(times), "x-alone")
		})
	}
}
