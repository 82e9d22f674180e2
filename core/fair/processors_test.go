package fair_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/fair"
)

// begin begins work of a party that is ended with the test.
func begin(t *testing.T, p *fair.Processors, party string) *fair.Work {
	t.Helper()
	w := &fair.Work{}
	p.Begin(w, party)
	t.Cleanup(w.End)
	return w
}

// takes has w take a processor in the background, and returns what becomes true when it has.
func takes(t *testing.T, w *fair.Work) *atomic.Bool {
	t.Helper()
	var has atomic.Bool
	go func() {
		if err := w.Take(t.Context()); err != nil {
			t.Error(err)
		}
		has.Store(true)
	}()
	synctest.Wait()
	return &has
}

// TestAloneWaitsForNothing: while one party has work, all of it goes on.
func TestAloneWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewProcessors(1)
		for range 100 {
			if has := takes(t, begin(t, p, "a")); !has.Load() {
				t.Fatal("it waits for itself")
			}
		}
	})
}

// TestPartiesShareWhatThereIs: however much work each has, and however long its pieces
// are, parties that always have some compute for the same time, and no more at once
// than there are processors.
func TestPartiesShareWhatThereIs(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			most := 1 + rng.IntN(4)
			p := fair.NewProcessors(most)
			parties := 2 + rng.IntN(4)
			spent := make([]atomic.Int64, parties)
			var computing atomic.Int64
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			var all sync.WaitGroup
			for i := range parties {
				begin(t, p, string(rune('a'+i))) // nobody is alone at the beginning
			}
			for i := range parties {
				name := string(rune('a' + i))
				pieces := most + rng.IntN(200) // enough to use all that there is
				long := time.Duration(1 + rng.IntN(4000))
				for range pieces {
					all.Go(func() {
						for ctx.Err() == nil {
							var w fair.Work
							p.Begin(&w, name)
							if w.Take(ctx) == nil {
								if n := computing.Add(1); n > int64(most) {
									t.Errorf("seed %d: %d of %d compute", seed, n, most)
								}
								time.Sleep(long * time.Microsecond)
								computing.Add(-1)
								spent[i].Add(int64(long))
							}
							w.End()
						}
					})
				}
			}
			all.Wait()
			least, greatest := spent[0].Load(), spent[0].Load()
			for i := range spent {
				least, greatest = min(least, spent[i].Load()), max(greatest, spent[i].Load())
			}
			if float64(least) < 0.9*float64(greatest) {
				t.Errorf("seed %d: of %d parties on %d one computed for %d and another for %d", seed, parties, most, least, greatest)
			}
		})
	}
}

// TestWhatWaitsHoldsNothing: whoever pauses lets another go on and waits itself when it
// resumes; whoever waits without saying so loses its processor, and keeps its place.
func TestWhatWaitsHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewProcessors(1)
		a, b, c := begin(t, p, "a"), begin(t, p, "b"), begin(t, p, "b")
		if !takes(t, a).Load() {
			t.Fatal("nobody computes")
		}
		hasB := takes(t, b)
		if hasB.Load() {
			t.Fatal("two compute on one processor")
		}
		ctx := fair.With(t.Context(), a)
		paused := fair.Pause(ctx)
		synctest.Wait()
		if !hasB.Load() {
			t.Error("who pauses holds its processor")
		}
		if fair.Pause(ctx) != nil {
			t.Error("who holds nothing can pause")
		}
		resumed := make(chan struct{})
		go func() { paused.Resume(ctx); close(resumed) }()
		synctest.Wait()
		select {
		case <-resumed:
			t.Error("it resumed on another's processor")
		default:
		}
		time.Sleep(20 * time.Millisecond) // b says nothing
		synctest.Wait()
		select {
		case <-resumed:
		default:
			t.Error("who holds a processor for long keeps it")
		}
		a.Give()
		if !takes(t, c).Load() {
			t.Error("the processor is lost")
		}
	})
}

// TestPartyAstray: the pieces of work of one party that hold on to what was given to
// others are bounded, and keep nobody else away.
func TestPartyAstray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewProcessors(1)
		other := begin(t, p, "b")
		var got atomic.Int64
		for range 100 {
			w := begin(t, p, "a")
			go func() {
				if w.Take(t.Context()) == nil {
					got.Add(1)
				}
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := got.Load(); n < 2 || n > 10 {
			t.Errorf("%d of 100 that never end go on", n)
		}
		if !takes(t, other).Load() {
			t.Error("another party waits for them")
		}
		other.End() // the last of its party: a is alone again
		time.Sleep(time.Second)
		synctest.Wait()
		if got.Load() != 100 {
			t.Errorf("%d of 100 go on when nobody else is there", got.Load())
		}
	})
}

// TestGivesUp: who gives up leaves the queue and no processor behind, at whatever moment.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewProcessors(2)
		rng := rand.New(rand.NewPCG(1, 2))
		var all sync.WaitGroup
		for i := range 500 {
			party, patience, hold := string(rune('a'+i%3)), time.Duration(rng.IntN(3000)), time.Duration(rng.IntN(3000))
			pauses := rng.IntN(2) == 0
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience*time.Microsecond)
				defer cancel()
				var w fair.Work
				p.Begin(&w, party)
				defer w.End()
				if err := w.Take(ctx); err != nil {
					if !errors.Is(err, context.DeadlineExceeded) || w.Give() {
						t.Errorf("%v, and it holds one", err)
					}
					return
				}
				time.Sleep(hold * time.Microsecond)
				if pauses {
					ctx := fair.With(ctx, &w)
					paused := fair.Pause(ctx)
					time.Sleep(hold * time.Microsecond)
					paused.Resume(ctx)
				}
			})
		}
		all.Wait()
		a, b, c := begin(t, p, "a"), begin(t, p, "b"), begin(t, p, "c")
		if !takes(t, a).Load() || !takes(t, b).Load() {
			t.Error("a processor is lost")
		}
		if takes(t, c).Load() {
			t.Error("there is one too many")
		}
		a.Give()
	})
}

// TestDelegates: of a party, so many pieces of work at a time have a database compute
// for them; those that go on are not held up by it, and who has asked for long counts
// no more: it may wait for something that comes with the next.
func TestDelegates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewProcessors(1)
		other := begin(t, p, "b")
		if !takes(t, other).Load() {
			t.Fatal("nobody computes")
		}
		other.Give()
		var asked atomic.Int64
		answer := make(chan struct{})
		var all sync.WaitGroup
		for range 50 {
			w := begin(t, p, "a")
			all.Go(func() {
				if err := w.Take(t.Context()); err != nil {
					t.Error(err)
				}
				ctx := fair.With(t.Context(), w)
				asks := fair.Delegate(ctx)
				asked.Add(1)
				<-answer
				asks.Resume(ctx)
				w.End()
			})
		}
		synctest.Wait()
		if n := asked.Load(); n < 1 || n > 3 {
			t.Errorf("%d of 50 ask at once", n)
		}
		if !takes(t, other).Load() {
			t.Error("another party waits for them")
		}
		other.Give()
		before := asked.Load()
		time.Sleep(time.Second)
		synctest.Wait()
		if asked.Load() == before {
			t.Error("who asks for long keeps the others of its party away")
		}
		close(answer)
		all.Wait()
		if asked.Load() != 50 {
			t.Errorf("%d of 50 asked", asked.Load())
		}
	})
}
