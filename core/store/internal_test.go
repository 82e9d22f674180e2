package store

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/document"
)

func openTemporary(t *testing.T) *Store {
	t.Helper()
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A list that may be slow ends with its context, and the connection it ran on,
// the writer's too, goes on working.
func TestSlowListIsCancelled(t *testing.T) {
	s := openTemporary(t)
	st := &statement{list: true, cells: []cell{{}}, text: "WITH RECURSIVE c(x) AS " +
		"(SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000000) SELECT count(*) FROM c WHERE x LIKE '%'"}
	st.note(time.Microsecond) // which it took for other values
	slow := func(dt document.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		return dt.(*tx).read(ctx, st, "", nil, func([]any) error { return nil })
	}
	for range 3 {
		if err := s.Read(t.Context(), slow); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("on a reader: %v", err)
		}
		if err := s.Write(t.Context(), document.OwnTx, slow); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("on the writer: %v", err)
		}
		err := s.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
			_, err := tx.BumpSchema(t.Context())
			return err
		})
		if err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

// A quick shape is not watched; one slow run does not change that for ever.
func TestSlowRunsAreForgotten(t *testing.T) {
	st := &statement{list: true}
	if !st.cancellable() {
		t.Error("what never ran is taken for quick")
	}
	st.note(time.Second)
	if !st.cancellable() {
		t.Error("a second is quick")
	}
	for range 100 {
		st.note(50 * time.Microsecond)
	}
	if !st.cancellable() {
		t.Error("a slow run is hidden behind a hundred quick ones")
	}
	for range 10_000 {
		st.note(50 * time.Microsecond)
	}
	if st.cancellable() {
		t.Errorf("still slow: %v", time.Duration(st.worst.Load()))
	}
}

func TestObserver(t *testing.T) {
	s := openTemporary(t)
	var texts []string
	var got []any
	ctx := WithObserver(t.Context(), func(sql string, args []any, d time.Duration) {
		texts, got = append(texts, sql), slices.Clone(args)
		if d <= 0 {
			t.Errorf("%s took %v", sql, d)
		}
	})
	err := s.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		_, err := tx.Next(ctx, "secret")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != 1 || strings.Contains(texts[0], "secret") || !slices.Equal(got, []any{"secret"}) {
		t.Errorf("saw %q with %v", texts, got)
	}
}

func TestGenerationsAreBounded(t *testing.T) {
	g := generations[int, int]{limit: 10}
	for i := range 1000 {
		g.put(i, i)
		if v, ok := g.get(0); !ok || v != 0 { // used all the time
			t.Fatalf("after %d: lost the one in use", i)
		}
	}
	if n := len(g.young) + len(g.old); n > 10 {
		t.Errorf("%d entries, want at most 10", n)
	}
}

func TestPreparedAreBounded(t *testing.T) {
	s := openTemporary(t)
	texts := newStatements(s.bun.DB, 3)
	for i := range 20 {
		p, err := texts.take(t.Context(), "SELECT "+strings.Repeat("1 + ", i)+"1")
		if err != nil {
			t.Fatal(err)
		}
		defer p.release() // in use after it was evicted
		var n int
		if err := p.stmt.QueryRow().Scan(&n); err != nil || n != i+1 {
			t.Errorf("statement %d gives %d: %v", i, n, err)
		}
	}
	if texts.order.Len() != 3 {
		t.Errorf("%d are kept, want 3", texts.order.Len())
	}
	texts.close()
}

func TestIndexNames(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range []string{"t", "t_a", strings.Repeat("é", 30)} {
		for _, columns := range [][]string{{"a"}, {"a", "b"}, {"a_b"}, {strings.Repeat("c", 60)}, {strings.Repeat("c", 59) + "d"}} {
			for _, unique := range []bool{false, true} {
				name := indexName(table, columns, unique)
				if len(name) > maxIdentifier || seen[name] || name != indexName(table, columns, unique) {
					t.Errorf("%q for %s %v", name, table, columns)
				}
				seen[name] = true
			}
		}
	}
}

func TestJobsKeepTheirOrder(t *testing.T) {
	s := openTemporary(t)
	w := s.backend.(*sqliteBackend).writer
	own, err := w.begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	done := make(chan error)
	for i := range 5 {
		go func() {
			done <- w.group(t.Context(), &job{ctx: t.Context(), fn: func(conn) error {
				order = append(order, i)
				return nil
			}})
		}()
		for queued := 0; queued <= i; {
			w.mu.Lock()
			queued = w.first.count
			w.mu.Unlock()
		}
	}
	before := w.writes
	if err := own.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("ran in order %v", order)
	}
	if n := w.writes - before; n != 2 {
		t.Errorf("%d commits for one transaction and five jobs, want 2", n)
	}
}

// A closed store leaves no goroutine behind.
func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestDrop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	s, err := Open(t.Context(), path, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is there
		if err := Drop(t.Context(), path, ""); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := Drop(t.Context(), "postgres://127.0.0.1:1/x", ""); err == nil {
		t.Error("the public schema may be dropped")
	}
}
