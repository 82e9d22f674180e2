package auth_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/auth"
	"armature/core/fault"
)

// TestHasher: one at a time, a bounded queue, a bounded wait.
func TestHasher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := auth.NewHasher()
		var inside, most, full, done atomic.Int32
		free := make(chan struct{})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				err := auth.Do(h, context.Background(), func() error {
					most.Store(max(most.Load(), inside.Add(1)))
					<-free
					inside.Add(-1)
					done.Add(1)
					return nil
				})
				if fault.KindOf(err) == fault.Unavailable {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		// One hashes, 64 wait, the rest were sent away at once.
		if n := full.Load(); n < 35 || n > 36 || inside.Load() != 1 {
			t.Errorf("%d were sent away, %d are inside", n, inside.Load())
		}
		close(free)
		wg.Wait()
		if most.Load() != 1 || done.Load()+full.Load() != 100 {
			t.Errorf("%d at once, %d done", most.Load(), done.Load())
		}
		hold, held := make(chan struct{}), make(chan struct{})
		wg.Go(func() {
			_ = auth.Do(h, context.Background(), func() error { close(held); <-hold; return nil })
		})
		<-held
		if err := auth.Do(h, context.Background(), func() error { return nil }); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a turn that does not come: %v", err)
		}
		close(hold)
		wg.Wait()
	})
}

// TestHasherRests: the next one begins half as long after a hash as it took, and
// who gives up meanwhile leaves the turn to others.
func TestHasherRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := auth.NewHasher(), time.Now()
		hash := func(d time.Duration) (began time.Duration) {
			_ = auth.Do(h, t.Context(), func() error {
				began = time.Since(start)
				time.Sleep(d)
				return nil
			})
			return began
		}
		if at := hash(40 * time.Millisecond); at != 0 {
			t.Errorf("the first began after %s", at)
		}
		gone, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		if err := auth.Do(h, gone, func() error { t.Error("hashed for nobody"); return nil }); err == nil {
			t.Error("no error for who gave up")
		}
		if at := hash(time.Second); at != 60*time.Millisecond {
			t.Errorf("the second began after %s", at)
		}
		if at := hash(0); at != 1160*time.Millisecond {
			t.Errorf("the third began after %s", at)
		}
		time.Sleep(time.Second)
		if at := hash(0); at != 2160*time.Millisecond {
			t.Errorf("one who comes alone began after %s", at)
		}
	})
}

// TestHasherOneCore: whoever holds a transaction hashes beside the turns, which
// may be waiting for that transaction, and yet never at the same time.
func TestHasherOneCore(t *testing.T) {
	h := auth.NewHasher()
	var inside, most atomic.Int32
	hash := func() {
		most.Store(max(most.Load(), inside.Add(1)))
		runtime.Gosched() // let the others try
		inside.Add(-1)
	}
	committed := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := auth.Do(h, context.Background(), func() error {
			auth.Compute(h, hash)
			<-committed // such as the count of a failed login
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for range 20 {
		wg.Go(func() { auth.Compute(h, hash) })
	}
	wg.Go(func() { auth.Compute(h, hash); close(committed) })
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d hashed at once", most.Load())
	}
}

// TestHasherSites: however many log in at one site, somebody at another is next but
// one, and is sent away for none of them.
func TestHasherSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, loud, quiet := auth.NewHasher(), &auth.Service{}, &auth.Service{}
		const took = 40 * time.Millisecond
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				_ = auth.DoAt(h, t.Context(), loud, func() error { time.Sleep(took); return nil })
			})
		}
		synctest.Wait()
		start := time.Now()
		err := auth.DoAt(h, t.Context(), quiet, func() error { return nil })
		if waited := time.Since(start); err != nil || waited > 2*(took+took/2) { // two hashes, with the rest after each
			t.Errorf("at the other site: %v, after %s", err, waited)
		}
		wg.Wait()
	})
}
