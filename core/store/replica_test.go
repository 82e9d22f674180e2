package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
	"armature/core/store"
	"armature/core/store/pgbouncer"
	"armature/core/store/pgserver"
	"armature/core/store/storetest"
)

// process is what one server process has: a store, and the replicas that it follows.
type process struct {
	*store.Store
	replicas *store.Replicas
}

// Read and View may be answered by a replica.
func (p process) Read(ctx context.Context, fn func(document.Tx) error) error {
	return p.Store.Read(document.WithReplica(ctx), fn)
}

func (p process) View(ctx context.Context, history *document.ViewHistory, fn func(document.Tx) error) error {
	return p.Store.View(document.WithReplica(ctx), history, fn)
}

// answered is how many reads the replicas have answered.
func (p process) answered() (n int64) {
	all, _ := p.replicas.Stats()
	for _, r := range all {
		n += r.Reads
	}
	return n
}

// used is how many replicas are read from.
func (p process) used() (n int) {
	all, _ := p.replicas.Stats()
	for _, r := range all {
		if r.Used {
			n++
		}
	}
	return n
}

func openProcess(t testing.TB, schema, primary string, replicas ...string) process {
	t.Helper()
	r, err := store.OpenReplicas(t.Context(), primary, replicas, store.ReplicaOptions{Conns: 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenPostgres(t.Context(), primary, schema, store.Options{Replicas: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	})
	return process{s, r}
}

// until tries until cond holds: for what a server does in its own time.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// textOf is the text of a note, read by itself, in a view, or as a list of one; empty:
// there is none.
func textOf(ctx context.Context, s document.Store, name string, how int) (text string, err error) {
	get := func(tx document.Tx) error {
		text = "" // it may run again
		doc, err := tx.Get(ctx, nil, note, name, false)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err == nil {
			text, _ = doc.Get("text").(string)
		}
		return err
	}
	switch how % 3 {
	case 0:
		err = s.Read(ctx, get)
	case 1:
		err = s.View(ctx, nil, get)
	case 2:
		err = s.Read(ctx, func(tx document.Tx) error {
			text = ""
			sel := &doctype.Select{
				DocType: note,
				Columns: []doctype.Column{{Operand: doctype.Operand{Field: note.Field("text")}, Key: "text"}},
				Where:   doctype.Compare{Operand: doctype.Operand{Field: note.Field("name")}, Op: query.Eq, Value: name},
			}
			return tx.Rows(ctx, sel, func(values []any) error {
				text, _ = values[0].(string)
				return nil
			})
		})
	}
	return text, err
}

// TestReplica has a primary and two replicas of the test's own.
func TestReplica(t *testing.T) {
	primary := pgserver.Start(t)
	first, second := primary.Standby(t), primary.Standby(t)
	open := func(t testing.TB, schema string) process {
		p := openProcess(t, schema, primary.URL, first.URL, second.URL)
		until(t, "both replicas are used", func() bool { return p.used() == 2 })
		return p
	}
	t.Run("suite", func(t *testing.T) {
		// Whatever the suite reads may come from a replica, right after it was written.
		var n atomic.Int64
		shared, err := store.OpenReplicas(t.Context(), primary.URL, []string{first.URL, second.URL}, store.ReplicaOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = shared.Close() })
		storetest.Run(t, func(t testing.TB) document.Store {
			s, err := store.OpenPostgres(t.Context(), primary.URL, fmt.Sprint("suite_", n.Add(1)), store.Options{Replicas: shared})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return process{s, shared}
		}, "Document", "Need", "Migrate")
		if p := (process{nil, shared}); p.answered() == 0 {
			t.Error("no replica has answered anything")
		}
	})
	t.Run("own writes", func(t *testing.T) { testOwnWrites(t, open, first, second) })
	t.Run("left out", func(t *testing.T) { testLeftOut(t, open(t, "left"), primary, first, second) })
	t.Run("conflict", func(t *testing.T) { testConflict(t, open(t, "conflict"), primary, first, second) })
	t.Run("PgBouncer", func(t *testing.T) {
		p := openProcess(t, "pooled", pgbouncer.Start(t, primary.URL, pgbouncer.Options{}), pgbouncer.Start(t, first.URL, pgbouncer.Options{}))
		migrateNotes(t, p)
		until(t, "the replica behind a pooler is used", func() bool { return p.used() == 1 })
		for i := range 30 {
			if err := insertNote(t, p, fmt.Sprint(i), "text"); err != nil {
				t.Fatal(err)
			}
			if text, err := textOf(t.Context(), p, fmt.Sprint(i), i); err != nil || text != "text" {
				t.Errorf("note %d is %q: %v", i, text, err)
			}
		}
		until(t, "the replica behind a pooler has answered", func() bool {
			if text, err := textOf(t.Context(), p, "0", 0); err != nil || text != "text" {
				t.Fatalf("%q: %v", text, err)
			}
			return p.answered() > 0
		})
	})
	t.Run("failover", func(t *testing.T) { testReplicaFailover(t, primary, first, second) })
}

// testOwnWrites: many write and read what they wrote, in two processes by turns, while
// replicas stop replaying and are lost. Nobody misses a write of theirs.
func testOwnWrites(t *testing.T, open func(testing.TB, string) process, first, second *pgserver.Server) {
	processes := []process{open(t, "own"), open(t, "own")}
	migrateNotes(t, processes[0])
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var work sync.WaitGroup
	var reads atomic.Int64
	for w := range 6 {
		work.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name, want := fmt.Sprint(w, " ", i%5), fmt.Sprint("text ", i)
				if err := rewrite(t, processes[rand.N(2)], name, want, i < 5); err != nil {
					t.Errorf("write: %v", err)
					return
				}
				for range rand.N(4) {
					how := rand.N(3)
					got, err := textOf(t.Context(), processes[rand.N(2)], name, how)
					if err != nil || got != want {
						t.Errorf("%s is %q and was written as %q (read in way %d): %v", name, got, want, how, err)
						return
					}
					reads.Add(1)
				}
			}
		})
	}
	more := func(n int64) {
		at := reads.Load()
		until(t, "they read on", func() bool { return reads.Load() > at+n || t.Failed() })
	}
	for range 3 {
		more(100)
		first.SQL(t, "SELECT pg_wal_replay_pause()")
		more(50)
		second.Stop(t)
		more(50)
		first.SQL(t, "SELECT pg_wal_replay_resume()")
		more(50)
		second.Continue(t)
	}
	until(t, "all replicas are used again", func() bool { return processes[0].used() == 2 && processes[1].used() == 2 })
	more(100)
	stop()
	work.Wait()
	all, onPrimary := processes[0].replicas.Stats()
	t.Logf("%d reads; of the first process %+v, on the primary %d", reads.Load(), all, onPrimary)
	if processes[0].answered() == 0 || processes[1].answered() == 0 {
		t.Error("no replica has answered anything")
	}
}

// rewrite makes a note, or gives it another text.
func rewrite(t testing.TB, s document.Store, name, text string, anew bool) error {
	if anew {
		return insertNote(t, s, name, text)
	}
	return s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
		_, err := tx.Update(t.Context(), nil, newNote(name, text), []*doctype.Field{note.Field("text")}, nil, "")
		return err
	})
}

// testLeftOut: who lags, or is lost, is read from no more, and again when it is back.
func testLeftOut(t *testing.T, p process, primary, first, second *pgserver.Server) {
	migrateNotes(t, p)
	both := func(do func(*pgserver.Server)) { do(first); do(second) }
	right := func(want string) {
		t.Helper()
		for how := range 3 {
			if got, err := textOf(t.Context(), p, "n", how); err != nil || got != want {
				t.Errorf("it is %q, not %q: %v", got, want, err)
			}
		}
	}
	if err := insertNote(t, p, "n", "before"); err != nil {
		t.Fatal(err)
	}
	both(func(s *pgserver.Server) { s.SQL(t, "SELECT pg_wal_replay_pause()") })
	if err := rewrite(t, p, "n", "paused", false); err != nil {
		t.Fatal(err)
	}
	right("paused")
	// A DocType whose table the replicas do not have.
	more := doctype.NewDocType(doctype.DocType{Name: "Newer", Table: "tabNewer"}, nil)
	if err := p.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), more) }); err != nil {
		t.Fatal(err)
	}
	err := p.Read(t.Context(), func(tx document.Tx) error {
		_, err := tx.Count(t.Context(), &doctype.Select{DocType: more})
		return err
	})
	if err != nil {
		t.Errorf("a DocType that only the primary has: %v", err)
	}
	lost := time.Now()
	until(t, "both lag and are left out", func() bool { return p.used() == 0 })
	t.Logf("left out after %s", time.Since(lost).Round(time.Millisecond))
	both(func(s *pgserver.Server) { s.SQL(t, "SELECT pg_wal_replay_resume()") })
	until(t, "both are back", func() bool { return p.used() == 2 })
	answered := p.answered()
	until(t, "a replica that has come up with the primary answers", func() bool {
		right("paused")
		return p.answered() > answered || t.Failed()
	})
	both(func(s *pgserver.Server) { s.Stop(t) })
	right("paused")
	lost = time.Now()
	until(t, "both are gone and left out", func() bool { return p.used() == 0 })
	t.Logf("left out after %s", time.Since(lost).Round(time.Millisecond))
	right("paused")
	both(func(s *pgserver.Server) { s.Continue(t) })
	until(t, "both are back again", func() bool { return p.used() == 2 })
	right("paused")
}

// testConflict: what a replica ends, since it must replay something that contradicts it,
// is read again on the primary, and nobody hears of it.
func testConflict(t *testing.T, p process, primary, first, second *pgserver.Server) {
	for _, s := range []*pgserver.Server{first, second} {
		s.SQL(t, "ALTER SYSTEM SET max_standby_streaming_delay = 0")
		s.SQL(t, "SELECT pg_reload_conf()")
	}
	migrateNotes(t, p)
	all := &doctype.Select{DocType: note}
	answered := p.answered()
	// once reports in how many runs the view ended: one where the primary was asked from
	// the beginning, since no replica was as far in time.
	once := func() (runs int) {
		for i := range 50 {
			if err := insertNote(t, p, fmt.Sprint(i), strings.Repeat("x", 200)); err != nil {
				t.Fatal(err)
			}
		}
		var counts []int64
		err := p.View(t.Context(), nil, func(tx document.Tx) error {
			runs++
			n, err := tx.Count(t.Context(), all)
			if err != nil {
				return err
			}
			if runs == 1 {
				primary.SQL(t, `DELETE FROM conflict."tabNote" WHERE name <> '0'`)
				primary.SQL(t, `VACUUM conflict."tabNote"`)
				for _, s := range []*pgserver.Server{first, second} {
					until(t, "the replicas have replayed it", func() bool { return s.SQL(t, `SELECT count(*) FROM conflict."tabNote"`) == "1" })
				}
			}
			again, err := tx.Count(t.Context(), all)
			counts = append(counts, n, again)
			return err
		})
		want := []string{1: "[50 50]", 2: "[1 1]"}
		if err != nil || runs > 2 || fmt.Sprint(counts[len(counts)-2:]) != want[runs] {
			t.Fatalf("after %d runs %v: %v", runs, counts, err)
		}
		return runs
	}
	until(t, "a replica ends what it was asked", func() bool {
		if once() == 2 {
			return true
		}
		primary.SQL(t, `DELETE FROM conflict."tabNote"`)
		return false
	})
	if p.answered() != answered {
		t.Error("what a replica failed at counts as its answer")
	}
}

// testReplicaFailover: a replica that follows a primary of before is not read from, until
// it follows the one that was promoted.
func testReplicaFailover(t *testing.T, primary, promoted, other *pgserver.Server) {
	hosts := strings.NewReplacer("@", "@"+hostOf(primary.URL)+",").Replace(promoted.URL) + "&target_session_attrs=read-write"
	p := openProcess(t, "failover", hosts, promoted.URL, other.URL)
	migrateNotes(t, p)
	until(t, "both replicas are used", func() bool { return p.used() == 2 })
	primary.Stop(t)
	promoted.Promote(t)
	until(t, "the other one can be written to", func() bool { return insertNote(t, p, "n", "after") == nil })
	until(t, "no replica is used", func() bool { return p.used() == 0 })
	if text, err := textOf(t.Context(), p, "n", 0); err != nil || text != "after" {
		t.Errorf("after the failover it is %q: %v", text, err)
	}
	other.SQL(t, "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 user=armature port="+promoted.SQL(t, "SHOW port")+"'")
	other.SQL(t, "SELECT pg_reload_conf()")
	until(t, "the replica that follows the new primary is used", func() bool { return p.used() == 1 })
	answered := p.answered()
	until(t, "the replica that follows the new primary answers", func() bool {
		if text, err := textOf(t.Context(), p, "n", 0); err != nil || text != "after" {
			t.Fatalf("after the failover it is %q: %v", text, err)
		}
		return p.answered() > answered
	})
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "@")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
