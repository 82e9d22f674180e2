package migration_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/migration"
	"armature/core/store"
)

var errKilled = errors.New("the process was killed")

// mortal is the store of a process that is killed at one of its writes: before it
// is committed, or between the commit and whatever comes after it.
type mortal struct {
	document.Store
	writes int // until it dies
	after  bool
	dead   bool
}

func (m *mortal) Write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	if m.dead {
		return errKilled
	}
	m.writes--
	m.dead = m.writes < 0
	err := m.Store.Write(ctx, mode, func(tx document.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if m.dead && !m.after {
			return errKilled
		}
		return nil
	})
	if m.dead {
		return errKilled
	}
	return err
}

func (m *mortal) Read(ctx context.Context, fn func(document.Tx) error) error {
	if m.dead {
		return errKilled
	}
	return m.Store.Read(ctx, fn)
}

// However often processes are killed, and wherever, every step comes to every
// document exactly once.
func TestKilledAnywhere(t *testing.T) {
	onEach(t, func(t *testing.T, open func() *store.Store) {
		db := open()
		random := rand.New(rand.NewPCG(1, 2))
		steps, number := 0, int64(0)
		var all []migration.Migration
		for round := range 6 {
			for range 1 + random.IntN(2) {
				number++
				m := migration.Migration{Number: number, Title: "count", Reader: 1}
				for i := range random.IntN(4) {
					m.Steps = append(m.Steps, count(fmt.Sprintf("count %d", i), 1+random.IntN(9)))
					steps++
				}
				all = append(all, m)
			}
			p := plan(fmt.Sprint("version ", round), 17, all...)
			deaths := 0
			for {
				m := &mortal{Store: db, writes: random.IntN(12), after: random.IntN(2) == 0}
				state, _, err := siteOf(m, p).Bring(t.Context())
				if err == nil {
					if state.Format != number || state.Installed != fmt.Sprint("version ", round) {
						t.Fatalf("brought to %+v, want format %d", state, number)
					}
					break
				}
				if !m.dead {
					t.Fatal(err)
				}
				if deaths++; deaths > 500 {
					t.Fatal("the migration never comes to its end")
				}
			}
			for name, n := range counts(t, db) {
				if n != int64(steps) {
					t.Fatalf("after %d deaths %s was counted %d times, want %d", deaths, name, n, steps)
				}
			}
		}
	})
}

// Processes that open a site at once bring it to its format once.
func TestTogether(t *testing.T) {
	onEach(t, func(t *testing.T, open func() *store.Store) {
		p := plan("one", 30, migration.Migration{Number: 1, Reader: 1, Steps: []migration.Step{count("a", 2), count("b", 3)}})
		var wg sync.WaitGroup
		stores := make([]*store.Store, 4)
		for i := range stores {
			stores[i] = open()
		}
		identities := make([]string, len(stores))
		for i, db := range stores {
			wg.Go(func() {
				site := siteOf(db, p)
				site.Stale = migration.DefaultStale // all of them live
				state, _, err := site.Bring(t.Context())
				if err != nil {
					t.Error(err)
				}
				identities[i] = state.Identity
			})
		}
		wg.Wait()
		for name, n := range counts(t, stores[0]) {
			if n != 2 {
				t.Errorf("%s was counted %d times, want 2", name, n)
			}
		}
		for _, id := range identities {
			if id == "" || id != identities[0] {
				t.Errorf("identities differ: %q", identities)
			}
		}
	})
}

// A process that stood still for longer than anybody waits keeps nothing of what it
// was in the middle of.
func TestTakenOver(t *testing.T) {
	onEach(t, func(t *testing.T, open func() *store.Store) {
		db, other := open(), open()
		stood := false
		p := plan("one", 5, migration.Migration{Number: 1, Reader: 1, Steps: []migration.Step{count("still", 100), count("more", 100)}})
		// Between two of its transactions another takes over and ends the work.
		between := &pausing{Store: db, at: 5, pause: func() {
			stood = true
			if _, _, err := siteOf(other, p).Bring(t.Context()); err != nil {
				t.Error(err)
			}
		}}
		_, _, err := siteOf(between, p).Bring(t.Context())
		if !stood {
			t.Fatal("nobody took over")
		}
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("who was overtaken ends with %v, want a fault that says to try again", err)
		}
		for name, n := range counts(t, db) {
			if n != 2 {
				t.Errorf("%s was counted %d times, want 2", name, n)
			}
		}
		if _, _, err := siteOf(db, p).Bring(t.Context()); err != nil {
			t.Errorf("opening the site afterwards: %v", err)
		}
	})
}

// pausing does something before one of its writes.
type pausing struct {
	document.Store
	at    int
	pause func()
}

func (p *pausing) Write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	if p.at--; p.at == 0 {
		p.pause()
	}
	return p.Store.Write(ctx, mode, fn)
}

// A binary uses a site that a newer one has expanded, and refuses one it has
// contracted; it changes neither.
func TestOlder(t *testing.T) {
	onEach(t, func(t *testing.T, open func() *store.Store) {
		db := open()
		first := migration.Migration{Number: 1, Reader: 1}
		expand := migration.Migration{Number: 2, Reader: 1, Steps: []migration.Step{count("a", 9)}}
		contract := migration.Migration{Number: 3, Reader: 2}
		older := siteOf(readOnly{db}, plan("one", 3, first))
		newer := plan("two", 3, first, expand)
		if _, _, err := siteOf(db, newer).Bring(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state, _, err := older.Bring(t.Context()); err != nil || state.Format != 2 {
			t.Errorf("the older binary on an expanded site: %+v, %v", state, err)
		}
		if _, _, err := siteOf(db, plan("three", 3, first, expand, contract)).Bring(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := older.Bring(t.Context()); !errors.Is(err, migration.ErrNewer) {
			t.Errorf("the older binary on a contracted site: %v, want ErrNewer", err)
		}
		if _, _, err := siteOf(readOnly{db}, newer).Bring(t.Context()); err != nil {
			t.Errorf("a binary of the lowest format that may read: %v", err)
		}
	})
}

// readOnly is a store that nobody may write to.
type readOnly struct{ document.Store }

func (readOnly) Write(context.Context, document.Mode, func(document.Tx) error) error {
	return errors.New("this site must not be changed")
}

// A site that had a database does not begin with an empty one.
func TestLost(t *testing.T) {
	onEach(t, func(t *testing.T, open func() *store.Store) {
		db := open()
		p := plan("one", 1, migration.Migration{Number: 1, Reader: 1})
		lost := siteOf(db, p)
		lost.Lost = errors.New("there was one")
		if _, _, err := lost.Bring(t.Context()); !errors.Is(err, lost.Lost) {
			t.Fatalf("an empty database: %v, want to be told that it was lost", err)
		}
		if _, err := migration.Read(t.Context(), db); err == nil {
			t.Error("the empty database has a state now")
		}
		if _, _, err := siteOf(db, p).Bring(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := lost.Bring(t.Context()); err != nil {
			t.Errorf("a database that is there: %v", err)
		}
	})
}
