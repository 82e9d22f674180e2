package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"armature/core/document"
)

// endless is a write that goes on until it is interrupted.
var endless = &statement{fleeting: true, text: "INSERT INTO kept WITH RECURSIVE c(x) AS " +
	"(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0 OR x = 1"}

func keeping(t *testing.T, s *Store) (count func() int64) {
	t.Helper()
	run := func(text string) error {
		return s.Write(t.Context(), document.OwnTx, func(dt document.Tx) error {
			return dt.(*tx).write(t.Context(), nil, "", false, func(c conn) error {
				_, err := s.exec(t.Context(), c, &statement{fleeting: true, text: text}, nil)
				return err
			})
		})
	}
	if err := run("CREATE TABLE kept (x)"); err != nil {
		t.Fatal(err)
	}
	return func() (n int64) {
		t.Helper()
		st := &statement{cells: []cell{{}}, text: "SELECT count(*) FROM kept"}
		err := s.Read(t.Context(), func(dt document.Tx) error {
			return dt.(*tx).read(t.Context(), st, "", nil, func(row []any) error {
				n, _ = row[0].(int64)
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// put writes in the Tx: a row, or without end.
func put(ctx context.Context, dt document.Tx, st *statement) error {
	return dt.(*tx).write(ctx, nil, "", false, func(c conn) error {
		_, err := dt.(*tx).s.exec(ctx, c, st, nil)
		return err
	})
}

var oneRow = &statement{text: "INSERT INTO kept VALUES (7)"}

// TestWriteIsInterrupted: a write that nobody waits for ends, nothing of its
// transaction is kept, whatever the function makes of the error, and the writer goes on.
func TestWriteIsInterrupted(t *testing.T) {
	s := openTemporary(t)
	count := keeping(t, s)
	for _, caught := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := s.Write(ctx, document.OwnTx, func(dt document.Tx) error {
			if err := put(ctx, dt, oneRow); err != nil {
				return err
			}
			if !caught {
				return put(ctx, dt, endless)
			}
			_ = dt.Savepoint(ctx, func() error { return put(ctx, dt, endless) })
			_ = put(t.Context(), dt, oneRow)
			return nil
		})
		cancel()
		if err == nil || !caught && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("caught %t: %v", caught, err)
		}
		if n := count(); n != 0 {
			t.Errorf("caught %t: %d rows are kept", caught, n)
		}
	}
	err := s.Write(t.Context(), document.OwnTx, func(dt document.Tx) error { return put(t.Context(), dt, oneRow) })
	if n := count(); err != nil || n != 1 {
		t.Errorf("afterwards: %d rows, %v", n, err)
	}
}

// TestInterruptedInAGroup: those who share their transaction with a write that is
// interrupted are run again.
func TestInterruptedInAGroup(t *testing.T) {
	s := openTemporary(t)
	count := keeping(t, s)
	write := func(ctx context.Context, st *statement, begun func()) chan error {
		done := make(chan error, 1)
		go func() {
			done <- s.Write(ctx, document.GroupedTx, func(dt document.Tx) error {
				begun()
				return put(ctx, dt, st)
			})
		}()
		return done
	}
	line := s.backend.(*sqliteBackend).writer.admission
	queued := func(want int) {
		for n := 0; n < want; time.Sleep(time.Millisecond) {
			line.mu.Lock()
			n = line.first.count
			line.mu.Unlock()
		}
	}
	leads, others := make(chan struct{}), make(chan struct{})
	first := write(t.Context(), oneRow, func() { close(leads); <-others })
	<-leads
	before := write(t.Context(), oneRow, func() {}) // leads the next group
	queued(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupted := write(ctx, endless, func() { time.AfterFunc(20*time.Millisecond, cancel) })
	queued(2)
	after := write(t.Context(), oneRow, func() {})
	queued(3)
	close(others)
	if err := <-interrupted; !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted one: %v", err)
	}
	for _, done := range []chan error{first, before, after} {
		if err := <-done; err != nil {
			t.Errorf("another: %v", err)
		}
	}
	if n := count(); n != 3 {
		t.Errorf("%d rows are kept, want 3", n)
	}
}
