package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// Functions given to Write behave as if each ran alone. What they do here is what
// authors of plugins write who never heard of locks.
func testIsolation(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	t.Run("read, add one, update", func(t *testing.T) { addOne(t, s) })
	t.Run("stock", func(t *testing.T) { sellStock(t, s) })
	t.Run("write skew", func(t *testing.T) { writeSkew(t, s) })
	t.Run("phantom", func(t *testing.T) { phantom(t, s) })
	t.Run("transfers", func(t *testing.T) { transfers(t, s) })
	t.Run("different rows", func(t *testing.T) { differentRows(t, s) })
	t.Run("one moment", func(t *testing.T) { oneMoment(t, s) })
	t.Run("habits", func(t *testing.T) { habits(t, s) })
	t.Run("a caught loss", func(t *testing.T) { caughtLoss(t, s) })
}

// loss makes the outcome of a call a test's business without ending it.
var errRefused = errors.New("refused")

func (s *site) setCount(t testing.TB, tx document.Tx, d *doctype.Document, to int64) error {
	d.Put("count", to)
	_, err := tx.Update(t.Context(), s.sc, d, []*doctype.Field{s.task.Field("count")}, nil, "")
	return err
}

func (s *site) seen(t testing.TB, tx document.Tx, name string) (*doctype.Document, error) {
	return tx.Get(t.Context(), s.sc, s.task, name, false)
}

func addOne(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "counted"))
	var runs atomic.Int64
	together(t, 8, func(i int) error {
		for range 20 {
			err := s.Write(t.Context(), modes[i%2].mode, func(tx document.Tx) error {
				runs.Add(1)
				d, err := s.seen(t, tx, "counted")
				if err != nil {
					return err
				}
				return s.setCount(t, tx, d, d.Int("count")+1)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := s.get(t, s.task, "counted").Int("count"); n != 160 {
		t.Errorf("160 were acknowledged, %d counted", n)
	}
	t.Logf("%.2f runs a call", float64(runs.Load())/160)
}

func sellStock(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "item", "count", int64(50)))
	var sold atomic.Int64
	together(t, 8, func(w int) error {
		for i := range 10 {
			err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
				d, err := s.seen(t, tx, "item")
				if err != nil {
					return err
				}
				if d.Int("count") < 1 {
					return errRefused
				}
				order := doc(s.task, fmt.Sprintf("order %d-%d", w, i))
				if err := tx.Insert(t.Context(), order); err != nil {
					return err
				}
				return s.setCount(t, tx, d, d.Int("count")-1)
			})
			switch {
			case err == nil:
				sold.Add(1)
			case !errors.Is(err, errRefused):
				return err
			}
		}
		return nil
	})
	if left := s.get(t, s.task, "item").Int("count"); sold.Load() != 50 || left != 0 {
		t.Errorf("sold %d of 50, %d left", sold.Load(), left)
	}
}

// writeSkew: of two on duty one may leave, each looking at both.
func writeSkew(t *testing.T, s *site) {
	for round := range 10 {
		pair := []string{fmt.Sprintf("doctor %d", round), fmt.Sprintf("nurse %d", round)}
		s.insert(t, doc(s.task, pair[0], "count", int64(1)), doc(s.task, pair[1], "count", int64(1)))
		together(t, 4, func(i int) error {
			err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
				var both [2]*doctype.Document
				for n, name := range pair {
					d, err := s.seen(t, tx, name)
					if err != nil {
						return err
					}
					both[n] = d
				}
				if both[0].Int("count")+both[1].Int("count") < 2 {
					return errRefused
				}
				return s.setCount(t, tx, both[i%2], 0)
			})
			if errors.Is(err, errRefused) {
				return nil
			}
			return err
		})
		if s.get(t, s.task, pair[0]).Int("count")+s.get(t, s.task, pair[1]).Int("count") != 1 {
			t.Errorf("round %d: nobody is on duty", round)
		}
	}
}

// phantom: at most three with a status, which each counts before it adds one.
func phantom(t *testing.T, s *site) {
	taken := &doctype.Select{DocType: s.task, Where: doctype.Compare{Operand: doctype.Operand{Field: s.task.Field("status")}, Op: query.Eq, Value: "Seat"}}
	together(t, 8, func(i int) error {
		err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			n, err := tx.Count(t.Context(), taken)
			if err != nil {
				return err
			}
			if n >= 3 {
				return errRefused
			}
			return tx.Insert(t.Context(), doc(s.task, fmt.Sprintf("seat %d", i), "status", "Seat"))
		})
		if errors.Is(err, errRefused) {
			return nil
		}
		return err
	})
	if n := s.count(t, taken); n != 3 {
		t.Errorf("%d seats are taken, want 3", n)
	}
}

// transfers lock two of four accounts in any order; nothing is made or lost, and
// nobody waits for the server to notice a deadlock.
func transfers(t *testing.T, s *site) {
	const accounts = 4
	for i := range accounts {
		s.insert(t, doc(s.task, fmt.Sprintf("account %d", i), "count", int64(100)))
	}
	var mu sync.Mutex
	var took []time.Duration
	together(t, 6, func(int) error {
		for range 20 {
			from := rand.N(accounts)
			to := (from + 1 + rand.N(accounts-1)) % accounts
			begun := time.Now()
			err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
				for n, by := range map[int]int64{from: -1, to: 1} { // in any order
					d, err := tx.Get(t.Context(), s.sc, s.task, fmt.Sprintf("account %d", n), true)
					if err != nil {
						return err
					}
					if err := s.setCount(t, tx, d, d.Int("count")+by); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			took = append(took, time.Since(begun))
			mu.Unlock()
		}
		return nil
	})
	sum := int64(0)
	for i := range accounts {
		sum += s.get(t, s.task, fmt.Sprintf("account %d", i)).Int("count")
	}
	if sum != accounts*100 {
		t.Errorf("%d in all accounts, want %d", sum, accounts*100)
	}
	slices.Sort(took)
	t.Logf("p50 %s, p99 %s", took[len(took)/2], took[len(took)*99/100])
}

// differentRows: who inserts and changes rows of their own does not run again
// and again because of the others.
func differentRows(t *testing.T, s *site) {
	for i := range 50 {
		s.insert(t, doc(s.task, fmt.Sprintf("mine %d", i)))
	}
	status := s.task.Field("status")
	cases := []struct {
		name string
		list doctype.Where
	}{
		{"no list", nil},
		{"by an index", doctype.Compare{Operand: doctype.Operand{Field: status}, Op: query.Eq, Value: "%"}},
		{"without an index", doctype.Compare{Operand: doctype.Operand{Field: s.task.Field("count")}, Op: query.Gt, Value: int64(1 << 40)}},
	}
	for _, tt := range cases {
		var runs, calls atomic.Int64
		together(t, 8, func(w int) error {
			for i := range 40 {
				calls.Add(1)
				err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
					runs.Add(1)
					if tt.list != nil {
						if _, err := tx.Count(t.Context(), &doctype.Select{DocType: s.task, Where: tt.list}); err != nil {
							return err
						}
					}
					d, err := s.seen(t, tx, fmt.Sprintf("mine %d", w))
					if err != nil {
						return err
					}
					if err := s.setCount(t, tx, d, d.Int("count")+1); err != nil {
						return err
					}
					return tx.Insert(t.Context(), doc(s.task, fmt.Sprintf("%s %d-%d", tt.name, w, i), "status", fmt.Sprint(w)))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		rate := float64(runs.Load()) / float64(calls.Load())
		t.Logf("%s: %.2f runs a call", tt.name, rate)
		if rate > 1.2 {
			t.Errorf("%s: %.2f runs a call, want at most 1.2", tt.name, rate)
		}
	}
	for w := range 8 {
		if n := s.get(t, s.task, fmt.Sprintf("mine %d", w)).Int("count"); n != 40*int64(len(cases)) {
			t.Errorf("row %d counted %d, want %d", w, n, 40*len(cases))
		}
	}
}

// oneMoment: a document tells how many rows it has, and readers count them.
func oneMoment(t *testing.T, s *site) {
	d := doc(s.task, "parent")
	s.insert(t, d)
	stop := make(chan struct{})
	written := make(chan error, 1)
	go func() {
		written <- func() error {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return nil
				default:
				}
				d := doc(s.task, "parent", "count", int64(n%5))
				d.PutRows("steps", s.steps("parent", []string{"a", "b", "c", "d"}[:n%5]...))
				err := s.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
					_, err := tx.Update(t.Context(), s.sc, d, []*doctype.Field{s.task.Field("count")}, []*doctype.Field{s.task.Field("steps")}, "")
					return err
				})
				if err != nil {
					return err
				}
			}
		}()
	}()
	habits := []*document.ViewHistory{nil, {}, {}}
	together(t, len(habits), func(n int) error {
		for range 300 {
			habit := habits[n]
			if n == 2 {
				habit = new(document.ViewHistory) // it has to learn each time
			}
			err := s.View(t.Context(), habit, func(tx document.Tx) error {
				for range 2 {
					d, err := s.seen(t, tx, "parent")
					if err != nil {
						return err
					}
					if n := int64(len(d.Rows("steps"))); n != d.Int("count") {
						t.Errorf("count: %d beside %d rows", d.Int("count"), n)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	close(stop)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// habits: a view that asks once is not run again; one that does after all is run
// anew, whatever it makes of the error, and from then on sees one moment at once.
func habits(t *testing.T, s *site) {
	var habit document.ViewHistory
	view := func(asks, pauseAfter int) (runs int) {
		t.Helper()
		err := s.View(t.Context(), &habit, func(tx document.Tx) error {
			runs++
			for n := range asks {
				_, _ = tx.Absent(t.Context(), s.task, []string{"glanced"})
				if n+1 == pauseAfter {
					if err := tx.Pause(t.Context()); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return runs
	}
	const once = 0 // there is no pause
	for i, c := range []struct{ asks, pauseAfter, runs int }{
		{1, once, 1}, {1, once, 1}, {3, once, 2}, {3, once, 1}, {0, once, 1}, {1, once, 1}, {2, once, 1},
	} {
		if runs := view(c.asks, c.pauseAfter); runs != c.runs {
			t.Errorf("view %d asked %d times and ran %d times, want %d", i, c.asks, runs, c.runs)
		}
	}
	for range 1000 { // until it is trusted again
		view(1, once)
	}
	// What has waited for the network is not run again: it asks anew, as of later.
	if runs := view(4, 1); runs != 1 {
		t.Errorf("a view that paused ran %d times", runs)
	}
}

// caughtLoss: a function that catches the error of its write, as a guest may, is
// run again all the same.
func caughtLoss(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "caught"))
	together(t, 8, func(int) error {
		for range 5 {
			err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
				d, err := s.seen(t, tx, "caught")
				if err != nil {
					return err
				}
				_ = tx.Savepoint(t.Context(), func() error { return s.setCount(t, tx, d, d.Int("count")+1) })
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := s.get(t, s.task, "caught").Int("count"); n != 40 {
		t.Errorf("40 were acknowledged, %d counted", n)
	}
}

// Spread is several stores of one database, as so many processes have them, that
// take turns in writing.
func Spread(stores ...document.Store) document.Store {
	return &spread{Store: stores[0], all: stores}
}

type spread struct {
	document.Store
	all  []document.Store
	next atomic.Int64
}

func (s *spread) Write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	n := int(s.next.Add(1))
	return s.all[n%len(s.all)].Write(ctx, mode, fn)
}

// Isolation runs only what is about transactions beside each other.
func Isolation(t *testing.T, open func(testing.TB) document.Store) { testIsolation(t, open) }
