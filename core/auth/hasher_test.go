package auth_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

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
