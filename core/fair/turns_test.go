package fair_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/fair"
)

// TestPartiesTakeTurns: a party that sends a hundred delays another's one by the turn
// that is running and one of its own.
func TestPartiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := fair.NewTurns(100)
		if err := turns.Take(t.Context(), "running"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		enter := func(party string) {
			go func() {
				if err := turns.Take(t.Context(), party); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, party)
				mu.Unlock()
				turns.Pass(party)
			}()
			synctest.Wait()
		}
		for range 5 {
			enter("loud")
		}
		enter("quiet")
		enter("loud")
		enter("quiet")
		turns.Pass("running")
		synctest.Wait()
		if want := []string{"loud", "quiet", "loud", "quiet", "loud", "loud", "loud", "loud"}; !slices.Equal(order, want) {
			t.Errorf("the turns were %q, want %q", order, want)
		}
	})
}

// TestFullPartyAlone: who sends too many is refused, and nobody else.
func TestFullPartyAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := fair.NewTurns(2)
		ctx, end := context.WithCancel(t.Context())
		_ = turns.Take(ctx, "a")
		for range 2 {
			go func() { _ = turns.Take(ctx, "a") }()
		}
		synctest.Wait()
		if err := turns.Take(ctx, "a"); !errors.Is(err, fair.ErrFull) {
			t.Errorf("the third that waits: %v", err)
		}
		come := make(chan error, 1)
		go func() { come <- turns.Take(t.Context(), "b") }()
		synctest.Wait()
		end() // those that wait go away
		synctest.Wait()
		turns.Pass("a")
		if err := <-come; err != nil {
			t.Errorf("another party: %v", err)
		}
		turns.Pass("b")
	})
}

// TestTurnsAreOneAtATime: whoever gives up and whenever, one at a time is in, nobody
// is forgotten, and at the end the turn is free.
func TestTurnsAreOneAtATime(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			turns := fair.NewTurns(4)
			rng := rand.New(rand.NewPCG(seed, 1))
			var wg sync.WaitGroup
			inside := 0
			var mu sync.Mutex
			for i := range 60 {
				start, patience := time.Duration(rng.IntN(30)), time.Duration(1+rng.IntN(20))
				wg.Go(func() {
					time.Sleep(start)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if turns.Take(ctx, i%3) != nil {
						return
					}
					mu.Lock()
					inside++
					if inside > 1 {
						t.Errorf("%d are in", inside)
					}
					mu.Unlock()
					time.Sleep(2 * time.Nanosecond)
					mu.Lock()
					inside--
					mu.Unlock()
					turns.Pass(i % 3)
				})
			}
			wg.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancel()
			if err := turns.Take(ctx, "last"); err != nil {
				t.Errorf("seed %d: the turn is not free: %v", seed, err)
			}
		})
	}
}

// TestSeveralAtATime: several parties have a turn at the same time, and none two.
func TestSeveralAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := fair.NewShared(2, 10)
		var got []string
		var mu sync.Mutex
		enter := func(party string) {
			go func() {
				if err := turns.Take(t.Context(), party); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, party)
			}()
			synctest.Wait()
		}
		had := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, want) {
				t.Fatalf("turns of %q, want %q", got, want)
			}
		}
		enter("a")
		enter("a")
		had("a") // the other turn is for somebody else
		enter("b")
		enter("c")
		had("a", "b")
		turns.Pass("b")
		had("a", "b", "c") // and not a once more
		turns.Pass("a")
		had("a", "b", "c", "a")
		turns.Pass("a")
		turns.Pass("c")
		enter("d")
		enter("e")
		had("a", "b", "c", "a", "d", "e")
	})
}
