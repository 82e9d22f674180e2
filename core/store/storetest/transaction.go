package storetest

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

var modes = []struct {
	name string
	mode document.Mode
}{{"OwnTx", document.OwnTx}, {"GroupedTx", document.GroupedTx}, {"OneWrite", document.OneWrite}}

func testTransaction(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	t.Run("read only", func(t *testing.T) { readOnly(t, s) })
	t.Run("rollback", func(t *testing.T) { rollback(t, s) })
	t.Run("one write", func(t *testing.T) { oneWrite(t, s) })
	t.Run("lazy begin", func(t *testing.T) { lazyBegin(t, s) })
	t.Run("savepoint", func(t *testing.T) { savepoint(t, s) })
	t.Run("failed statement", func(t *testing.T) { failedStatement(t, s) })
	t.Run("after commit", func(t *testing.T) { afterCommit(t, s) })
	t.Run("update if", func(t *testing.T) { updateIf(t, s) })
	t.Run("counters", func(t *testing.T) { counters(t, s) })
	t.Run("versions", func(t *testing.T) { versions(t, s) })
	t.Run("panic", func(t *testing.T) { panics(t, s) })
	t.Run("panic while reading", func(t *testing.T) { panicsWhileReading(t, s) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, s) })
	t.Run("used while reading", func(t *testing.T) { usedWhileReading(t, s) })
}

func (s *site) exists(t testing.TB, name string) bool {
	t.Helper()
	var absent []string
	s.read(t, func(tx document.Tx) (err error) {
		absent, err = tx.Absent(context.WithoutCancel(t.Context()), s.task, []string{name})
		return err
	})
	return len(absent) == 0
}

func readOnly(t *testing.T, s *site) {
	ctx := t.Context()
	for name, write := range map[string]func(document.Tx) error{
		"Insert": func(tx document.Tx) error { return tx.Insert(ctx, doc(s.task, "x")) },
		"Update": func(tx document.Tx) error { _, err := tx.Update(ctx, nil, doc(s.task, "x"), nil, nil, ""); return err },
		"UpdateIf": func(tx document.Tx) error {
			_, err := tx.UpdateIf(ctx, s.task, "x", nil, map[string]any{"count": int64(1)})
			return err
		},
		"Delete":     func(tx document.Tx) error { _, err := tx.Delete(ctx, s.sc, s.task, "x"); return err },
		"Next":       func(tx document.Tx) error { _, err := tx.Next(ctx, "x"); return err },
		"Migrate":    func(tx document.Tx) error { return tx.Migrate(ctx, s.task) },
		"BumpSchema": func(tx document.Tx) error { _, err := tx.BumpSchema(ctx); return err },
		"BumpEpoch":  func(tx document.Tx) error { return tx.BumpEpoch(ctx) },
	} {
		if err := s.Read(ctx, write); !errors.Is(err, document.ErrReadOnly) {
			t.Errorf("%s in Read: %v", name, err)
		}
	}
}

func rollback(t *testing.T, s *site) {
	broken := errors.New("broken")
	for _, m := range modes[:2] {
		for want, returned := range map[error]error{broken: broken, nil: document.ErrRollback} {
			err := s.Write(t.Context(), m.mode, func(tx document.Tx) error {
				d := doc(s.task, "undone")
				d.PutRows("steps", s.steps("undone", "one"))
				if err := tx.Insert(t.Context(), d); err != nil {
					return err
				}
				return returned
			})
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", m.name, err, want)
			}
			if s.exists(t, "undone") {
				t.Errorf("%s: stored in spite of %v", m.name, returned)
			}
		}
	}
}

func oneWrite(t *testing.T, s *site) {
	err := s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
		if err := tx.Insert(t.Context(), doc(s.task, "one")); err != nil {
			return err
		}
		return tx.Insert(t.Context(), doc(s.task, "two"))
	})
	if err == nil || !s.exists(t, "one") || s.exists(t, "two") {
		t.Errorf("a second write in Single: %v", err)
	}
	// A write of several statements is one write, and undone as one.
	d := doc(s.task, "half")
	d.PutRows("steps", append(s.steps("half", "one"), s.steps("half", "one")...))
	err = s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error { return tx.Insert(t.Context(), d) })
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict || s.exists(t, "half") {
		t.Errorf("rows of the same name: %v", err)
	}
}

// lazyBegin: functions that touch nothing take no writer, so they may overlap.
func lazyBegin(t *testing.T, s *site) {
	inside := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Write(t.Context(), document.OwnTx, func(document.Tx) error {
			close(inside)
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				return errors.New("the other write did not come through")
			}
			return nil
		})
	}()
	<-inside
	s.insert(t, doc(s.task, "lazy"))
	done <- nil
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func savepoint(t *testing.T, s *site) {
	ctx := t.Context()
	for _, m := range modes[:2] {
		var ran []string
		s.write(t, m.mode, func(tx document.Tx) error {
			ran = nil
			insert := func(name string) error {
				tx.AfterCommit(func() { ran = append(ran, name) })
				return tx.Insert(ctx, doc(s.task, m.name+name))
			}
			broken := errors.New("broken")
			if err := insert("kept"); err != nil {
				return err
			}
			if err := tx.Savepoint(ctx, func() error { return errors.Join(insert("lost"), broken) }); !errors.Is(err, broken) {
				t.Errorf("savepoint: %v", err)
			}
			if err := tx.Savepoint(ctx, func() error { return insert("kept") }); fault.KindOf(err) != fault.Conflict {
				t.Errorf("duplicate in a savepoint: %v", err)
			}
			if err := tx.Savepoint(ctx, func() error { _ = insert("kept"); return nil }); fault.KindOf(err) != fault.Conflict {
				t.Errorf("duplicate ignored in a savepoint: %v", err)
			}
			return tx.Savepoint(ctx, func() error {
				if err := tx.Savepoint(ctx, func() error { return errors.Join(insert("inner"), broken) }); !errors.Is(err, broken) {
					t.Errorf("inner savepoint: %v", err)
				}
				return insert("outer")
			})
		})
		for name, want := range map[string]bool{"kept": true, "lost": false, "inner": false, "outer": true} {
			if got := s.exists(t, m.name+name); got != want {
				t.Errorf("%s: %s stored %v, want %v", m.name, name, got, want)
			}
		}
		if !slices.Equal(ran, []string{"kept", "outer"}) {
			t.Errorf("%s: after commit ran %v, want kept outer", m.name, ran)
		}
	}
}

// failedStatement: outside a savepoint a failed statement ends the transaction,
// also where the database would let it go on.
func failedStatement(t *testing.T, s *site) {
	ctx := t.Context()
	s.insert(t, doc(s.task, "there"))
	for _, m := range modes[:2] {
		err := s.Write(ctx, m.mode, func(tx document.Tx) error {
			if err := tx.Insert(ctx, doc(s.task, "there")); fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s: %v", m.name, err)
			}
			if err := tx.Insert(ctx, doc(s.task, "late")); fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s, after a failure: %v", m.name, err)
			}
			return nil
		})
		if fault.KindOf(err) != fault.Conflict || s.exists(t, "late") {
			t.Errorf("%s: a failure was ignored: %v", m.name, err)
		}
	}
}

func afterCommit(t *testing.T, s *site) {
	for _, m := range modes {
		ran := 0
		s.write(t, m.mode, func(tx document.Tx) error {
			tx.AfterCommit(func() {
				if !s.exists(t, "after "+m.name) {
					t.Errorf("%s: ran before the commit", m.name)
				}
				ran++
			})
			return tx.Insert(t.Context(), doc(s.task, "after "+m.name))
		})
		if ran != 1 {
			t.Errorf("%s: ran %d times, want 1", m.name, ran)
		}
		err := s.Write(t.Context(), m.mode, func(tx document.Tx) error {
			tx.AfterCommit(func() { t.Errorf("%s: ran after a failure", m.name) })
			return errors.New("broken")
		})
		if err == nil {
			t.Errorf("%s: the error is lost", m.name)
		}
	}
}

func updateIf(t *testing.T, s *site) {
	ctx := t.Context()
	s.insert(t, doc(s.task, "code", "status", "Active"))
	tests := []struct {
		name        string
		doc         string
		expect, set map[string]any
		want        bool
	}{
		{"other value", "code", map[string]any{"status": "Used"}, map[string]any{"count": int64(9)}, false},
		{"no document", "nobody", nil, map[string]any{"count": int64(9)}, false},
		{"null expected, not there", "code", map[string]any{"status": nil}, map[string]any{"count": int64(9)}, false},
		{"null expected, there", "code", map[string]any{"title": nil, "count": int64(0)}, map[string]any{"count": int64(1)}, true},
		{"spent", "code", map[string]any{"status": "Active", "count": int64(1)}, map[string]any{"status": "Used", "due": moment}, true},
		{"spent again", "code", map[string]any{"status": "Active", "count": int64(1)}, map[string]any{"status": "Used"}, false},
		{"moment", "code", map[string]any{"due": moment}, map[string]any{"due": nil}, true},
	}
	for _, tt := range tests {
		s.write(t, document.OneWrite, func(tx document.Tx) error {
			got, err := tx.UpdateIf(ctx, s.task, tt.doc, tt.expect, tt.set)
			if got != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
			return err
		})
	}
	if d := s.get(t, s.task, "code"); d.Text("status") != "Used" || d.Int("count") != 1 || d.Get("due") != nil {
		t.Errorf("in the end: %v", d.Values())
	}
	err := s.Write(ctx, document.OneWrite, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, s.task, "code", map[string]any{"misspelt": nil}, map[string]any{"count": int64(0)})
		return err
	})
	if err == nil {
		t.Error("a misspelt field was taken")
	}
}

func counters(t *testing.T, s *site) {
	next := func(mode document.Mode, counter string, keep bool) (n int64) {
		s.write(t, mode, func(tx document.Tx) (err error) {
			n, err = tx.Next(t.Context(), counter)
			if err == nil && !keep {
				return document.ErrRollback
			}
			return err
		})
		return n
	}
	for want := int64(1); want < 4; want++ {
		if n := next(document.OneWrite, "TASK-", true); n != want {
			t.Errorf("counter gives %d, want %d", n, want)
		}
	}
	next(document.OwnTx, "TASK-", false)
	if n := next(document.GroupedTx, "TASK-", true); n != 4 {
		t.Errorf("after a rollback the counter gives %d, want 4", n)
	}
	if n := next(document.GroupedTx, "other", true); n != 1 {
		t.Errorf("another counter begins at %d", n)
	}
}

func versions(t *testing.T, s *site) {
	ctx := t.Context()
	before, err := s.Versions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, document.GroupedTx, func(tx document.Tx) error {
		v, err := tx.BumpSchema(ctx)
		if v != before.Schema+1 {
			t.Errorf("schema version %d, want %d", v, before.Schema+1)
		}
		return errors.Join(err, tx.BumpEpoch(ctx), tx.BumpEpoch(ctx))
	})
	after, err := s.Versions(ctx)
	if want := (document.Versions{Schema: before.Schema + 1, Epoch: before.Epoch + 2}); after != want || err != nil {
		t.Errorf("versions %v, want %v, error %v", after, want, err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Error(err)
	}
}

// panics: the transaction is undone and the next one works.
func panics(t *testing.T, s *site) {
	for _, m := range modes[:2] {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic is lost", m.name)
				}
			}()
			_ = s.Write(t.Context(), m.mode, func(tx document.Tx) error {
				if err := tx.Insert(t.Context(), doc(s.task, "panic")); err != nil {
					return err
				}
				panic("a bug")
			})
		}()
		left := make(chan struct{})
		go func() {
			defer close(left)
			_ = s.Write(t.Context(), m.mode, func(tx document.Tx) error {
				_ = tx.Insert(t.Context(), doc(s.task, "panic"))
				runtime.Goexit()
				return nil
			})
		}()
		<-left
		if s.exists(t, "panic") {
			t.Errorf("%s: stored in spite of the panic", m.name)
		}
		s.insert(t, doc(s.task, "after panic "+m.name))
	}
}

// panicsWhileReading: whoever leaves in the middle of the rows gives back what
// they were read with, each time. There are more turns than connections.
func panicsWhileReading(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "read by one who left"))
	s.insert(t, doc(s.task, "read by one who left too"))
	sel := &doctype.Select{DocType: s.task, Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}}, Length: 9}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := range 80 {
		leave := runtime.Goexit
		if n%2 == 0 {
			leave = func() { panic("a bug") }
		}
		read := func(tx document.Tx) error {
			return tx.Rows(ctx, sel, func([]any) error { leave(); return nil })
		}
		left := make(chan error, 1)
		go func() {
			defer func() { left <- nil }()
			defer func() { _ = recover() }()
			var err error
			switch n / 2 % 3 {
			case 0:
				err = s.Read(ctx, read)
			case 1:
				err = s.Write(ctx, document.OwnTx, read)
			case 2:
				err = s.Write(ctx, document.GroupedTx, read)
			}
			left <- cmp.Or(err, errors.New("nobody left"))
		}()
		select {
		case err := <-left:
			if err != nil {
				t.Fatalf("turn %d: %v", n, err)
			}
		case <-ctx.Done():
			t.Fatalf("turn %d hangs", n)
		}
	}
	s.insert(t, doc(s.task, "after who left"))
}

func cancelled(t *testing.T, s *site) {
	for _, m := range modes {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Write(ctx, m.mode, func(tx document.Tx) error {
			cancel()
			return tx.Insert(ctx, doc(s.task, "cancelled"))
		})
		if !errors.Is(err, context.Canceled) || s.exists(t, "cancelled") {
			t.Errorf("%s: %v", m.name, err)
		}
		err = s.Write(ctx, m.mode, func(tx document.Tx) error {
			return tx.Insert(ctx, doc(s.task, "cancelled"))
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled before: %v", m.name, err)
		}
	}
}

func usedWhileReading(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "reading"))
	sel := &doctype.Select{DocType: s.task, Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}}, Length: 1}
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		return tx.Rows(t.Context(), sel, func([]any) error {
			_, err := tx.Count(t.Context(), sel)
			return err
		})
	})
	if err == nil {
		t.Error("the Tx could be used while its rows were read")
	}
}
