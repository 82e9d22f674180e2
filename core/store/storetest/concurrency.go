package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
)

func testConcurrency(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	t.Run("exactly one wins", func(t *testing.T) { oneWins(t, s) })
	t.Run("sixteen writers", func(t *testing.T) { sixteenWriters(t, s) })
	t.Run("counter", func(t *testing.T) { counterRace(t, s) })
	t.Run("locked read", func(t *testing.T) { lockedRead(t, s) })
	t.Run("deadlock", func(t *testing.T) { deadlock(t, s) })
	t.Run("queue", func(t *testing.T) { queue(t, s) })
	t.Run("close", func(t *testing.T) { closing(t, open) })
}

// together runs fn n times at once and reports the errors.
func together(t testing.TB, n int, fn func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if err := fn(i); err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
}

func oneWins(t *testing.T, s *site) {
	for round := range 20 {
		name := fmt.Sprintf("token %d", round)
		s.insert(t, doc(s.task, name, "status", "Active"))
		var won atomic.Int64
		together(t, 16, func(i int) error {
			return s.Write(t.Context(), modes[i%3].mode, func(tx document.Tx) error {
				ok, err := tx.UpdateIf(t.Context(), s.task, name, map[string]any{"status": "Active"}, map[string]any{"status": "Used"})
				if ok {
					tx.AfterCommit(func() { won.Add(1) })
				}
				return err
			})
		})
		if won.Load() != 1 {
			t.Fatalf("round %d: %d won", round, won.Load())
		}
	}
}

func sixteenWriters(t *testing.T, s *site) {
	const each = 25
	together(t, 16, func(w int) error {
		for i := range each {
			name := fmt.Sprintf("w%d-%d", w, i)
			err := s.Write(t.Context(), modes[(w+i)%3].mode, func(tx document.Tx) error {
				d := doc(s.task, name)
				d.PutRows("steps", s.steps(name, "one", "two"))
				return tx.Insert(t.Context(), d)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := s.count(t, &doctype.Select{DocType: s.step}); n != 16*each*2 {
		t.Errorf("%d rows, want %d", n, 16*each*2)
	}
}

func counterRace(t *testing.T, s *site) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	together(t, 16, func(i int) error {
		for range 10 {
			var n int64
			err := s.Write(t.Context(), modes[i%3].mode, func(tx document.Tx) (err error) {
				n, err = tx.Next(t.Context(), "race")
				return err
			})
			if err != nil {
				return err
			}
			mu.Lock()
			if seen[n] {
				t.Errorf("%d was given twice", n)
			}
			seen[n] = true
			mu.Unlock()
		}
		return nil
	})
	if len(seen) != 160 || !seen[1] || !seen[160] {
		t.Errorf("%d numbers, want 1 to 160", len(seen))
	}
}

// lockedRead: read, add one, write, from many sides at once.
func lockedRead(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "sum"))
	together(t, 16, func(i int) error {
		for range 5 {
			err := s.Write(t.Context(), modes[i%2].mode, func(tx document.Tx) error {
				d, err := tx.Get(t.Context(), s.sc, s.task, "sum", true)
				if err != nil {
					return err
				}
				d.Put("count", d.Int("count")+1)
				_, err = tx.Update(t.Context(), nil, d, []*doctype.Field{s.task.Field("count")}, nil, "")
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := s.get(t, s.task, "sum").Int("count"); n != 80 {
		t.Errorf("sum is %d, want 80", n)
	}
}

// deadlock: two lock the same two documents in opposite order; both get through.
func deadlock(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "left"), doc(s.task, "right"))
	names := []string{"left", "right"}
	var runs atomic.Int64
	together(t, 2, func(i int) error {
		return s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			runs.Add(1)
			for n := range names {
				if _, err := tx.Get(t.Context(), s.sc, s.task, names[(n+i)%2], true); err != nil {
					return fmt.Errorf("wrapped: %w", err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		})
	})
	t.Logf("%d runs for two transactions", runs.Load())
}

// queue: what waits behind a long transaction is cancelled or comes through.
func queue(t *testing.T, s *site) {
	inside, leave := make(chan struct{}), make(chan struct{})
	long := make(chan error)
	go func() {
		long <- s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			err := tx.Insert(t.Context(), doc(s.task, "long"))
			close(inside)
			<-leave
			return err
		})
	}()
	<-inside
	if s.exists(t, "long") {
		t.Error("a reader sees what is not committed")
	}
	time.AfterFunc(50*time.Millisecond, func() { close(leave) })
	together(t, 8, func(i int) error {
		return s.Write(t.Context(), modes[i%3].mode, func(tx document.Tx) error {
			return tx.Insert(t.Context(), doc(s.task, fmt.Sprintf("queued %d", i)))
		})
	})
	if err := <-long; err != nil {
		t.Error(err)
	}
}

// closing waits for who is inside and lets nobody in.
func closing(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	inside, leave := make(chan struct{}), make(chan struct{})
	running := make(chan error, 1)
	go func() {
		running <- s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			close(inside)
			<-leave
			return tx.Insert(t.Context(), doc(s.task, "last"))
		})
	}()
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		t.Fatalf("closed under a running write: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(leave)
	if err := errors.Join(<-running, <-closed); err != nil {
		t.Error(err)
	}
	if err := s.Read(t.Context(), func(document.Tx) error { return nil }); err == nil {
		t.Error("a closed store was read")
	}
}
