package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/store"
)

func connect(t testing.TB, dsn, schema string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func run(t testing.TB, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func withSetting(dsn, name, value string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn + " " + name + "='" + value + "'"
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// A column is added behind a transaction that reads the table for 600 ms;
// other readers meanwhile wait for turns of 50 ms, not for its end.
func TestPostgresMigrateBehindOpenReader(t *testing.T) {
	dsn := postgresURL(t)
	schema := newSchema(t, dsn)
	s := openSchema(t, dsn, schema)
	migrateNotes(t, s)
	if err := insertNote(t, s, "n", ""); err != nil {
		t.Fatal(err)
	}
	reader := connect(t, dsn, schema)
	run(t, reader, "BEGIN")
	run(t, reader, `SELECT count(*) FROM "tabNote"`)

	wider := doctype.NewDocType(doctype.DocType{Name: "Note", Table: "tabNote"}, []*doctype.Field{
		{Name: "text", Label: "Text", Type: "Data", Kind: doctype.Text, Column: "text"},
		{Name: "more", Label: "More", Type: "Data", Kind: doctype.Text, Column: "more"},
	})
	done := make(chan error, 1)
	runs := 0
	go func() {
		done <- s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			runs++
			return tx.Migrate(t.Context(), wider)
		})
	}()
	var worst time.Duration
	reads := 0
	end := time.After(600 * time.Millisecond)
wait:
	for {
		select {
		case <-end:
			break wait
		case err := <-done:
			t.Fatalf("ended under the open reader: %v", err)
		default:
		}
		begun := time.Now()
		err := s.Read(t.Context(), func(tx document.Tx) error {
			_, err := tx.Get(t.Context(), nil, note, "n", false)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, time.Since(begun))
		reads++
	}
	run(t, reader, "COMMIT")
	if err := <-done; err != nil {
		t.Error(err)
	}
	t.Logf("%d runs, %d reads meanwhile, which waited for %v at most", runs, reads, worst)
	if reads < 3 { // all would wait behind one ALTER TABLE that waits
		t.Errorf("%d reads came through", reads)
	}
}

// A row lock that does not come in time is told as such, and so is a statement
// that runs into the server's limit.
func TestPostgresLimits(t *testing.T) {
	dsn := postgresURL(t)
	schema := newSchema(t, dsn)
	s := openSchema(t, dsn, schema)
	migrateNotes(t, s)
	if err := insertNote(t, s, "n", ""); err != nil {
		t.Fatal(err)
	}
	holder := connect(t, dsn, schema)
	run(t, holder, "BEGIN")
	run(t, holder, `UPDATE "tabNote" SET text = 'held'`)
	for limit, want := range map[string]fault.Kind{"lock_timeout": fault.Unavailable, "statement_timeout": fault.Timeout} {
		limited, err := store.OpenPostgres(t.Context(), withSetting(dsn, limit, "50ms"), schema, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = limited.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			_, err := tx.Get(t.Context(), nil, note, "n", true)
			return err
		})
		if fault.KindOf(err) != want {
			t.Errorf("%s: %v", limit, err)
		}
		if err := limited.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server that goes away is Unavailable, and the store recovers by itself.
func TestPostgresConnectionLost(t *testing.T) {
	dsn := postgresURL(t)
	schema := newSchema(t, dsn)
	mark := fmt.Sprintf("lost %d", os.Getpid())
	s := openSchema(t, withSetting(dsn, "application_name", mark), schema)
	migrateNotes(t, s)
	killer := connect(t, dsn, schema)
	kill := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" + mark + "'"
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Insert(t.Context(), newNote("lost", "")); err != nil {
			return err
		}
		run(t, killer, kill)
		return tx.Insert(t.Context(), newNote("lost too", ""))
	})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the connection was lost: %v", err)
	}
	if err := insertNote(t, s, "next", ""); err != nil {
		t.Errorf("after the loss: %v", err)
	}
	runs := 0
	err = s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Insert(t.Context(), newNote("second run", "")); err != nil {
			return err
		}
		if runs++; runs == 1 {
			run(t, killer, kill)
		}
		return tx.Insert(t.Context(), newNote("second run too", ""))
	})
	if err != nil || runs != 2 {
		t.Errorf("lost once before the commit: %d runs, %v", runs, err)
	}
	err = s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Insert(t.Context(), newNote("unknown", "")); err != nil {
			return err
		}
		run(t, killer, kill)
		return nil
	})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the commit was lost: %v", err)
	}
}

// Connections that the server ends while they are idle cost nobody anything.
func TestPostgresIdleConnectionsLost(t *testing.T) {
	dsn := postgresURL(t)
	schema := newSchema(t, dsn)
	mark := fmt.Sprintf("idle %d", os.Getpid())
	s := openSchema(t, withSetting(dsn, "application_name", mark), schema)
	migrateNotes(t, s)
	killer := connect(t, dsn, schema)
	for n := range 4 {
		var work sync.WaitGroup
		for i := range 12 { // so that there are several of each kind
			work.Go(func() {
				if err := insertNote(t, s, fmt.Sprintf("note %d of %d", i, n), ""); err != nil {
					t.Errorf("write after %d losses: %v", n, err)
				}
				if _, err := s.Versions(t.Context()); err != nil {
					t.Errorf("read after %d losses: %v", n, err)
				}
			})
		}
		work.Wait()
		ours := " FROM pg_stat_activity WHERE application_name = '" + mark + "'"
		run(t, killer, "SELECT pg_terminate_backend(pid)"+ours)
		for left := 1; left > 0; {
			if err := killer.QueryRow(t.Context(), "SELECT count(*)"+ours).Scan(&left); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPostgresCannotOpen(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := store.Open(ctx, "postgres://nobody:secret@127.0.0.1:1/none", "x", store.Options{})
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opened a server that is not there: %v", err)
	}
}
