package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/store"
)

// The table of the benchmarks: the standard columns and seven more, 10,000
// rows.
var bench = doctype.NewDocType(doctype.DocType{Name: "Bench", Table: "tabBench"}, []*doctype.Field{
	benchField("title", "Data"), benchField("status", "Select"), benchField("body", "Text"),
	benchField("due", "Datetime"), benchField("day", "Date"), benchField("amount", "Float"), benchField("done", "Check"),
})

const benchRows = 10_000

func benchField(name, typ string) *doctype.Field {
	s, _ := doctype.KindOf(typ)
	return &doctype.Field{Name: name, Label: name, Type: typ, Kind: s, Column: name, Indexed: name == "status"}
}

func benchDoc(name string, n int) *doctype.Document {
	d := doctype.NewDocument(bench)
	at := fmt.Sprintf("2024-01-%02d %02d:%02d:00.000000", n%28+1, n%24, n%60)
	for field, v := range map[string]any{
		"name": name, "owner": "Administrator", "modified_by": "Administrator", "creation": at, "modified": at,
		"title": "A title of common length", "status": []string{"Open", "Closed", "Cancelled"}[n%3], "body": "A few words more",
		"due": at, "day": at[:10], "amount": float64(n) / 4, "done": int64(n % 2),
	} {
		d.Put(field, v)
	}
	return d
}

// bare is the same database without a store: prepared statements and a scan.
type bare struct {
	db                         *sql.DB
	read, list, insert, update string
}

const benchColumns = "name, owner, creation, modified, modified_by, docstatus, idx, title, status, body, due, day, amount, done"

func newBare(db *sql.DB, mark func(int) string) bare {
	marks := ""
	for i := range 14 {
		marks += ", " + mark(i+1)
	}
	return bare{
		db:     db,
		read:   "SELECT " + benchColumns + ` FROM "tabBench" WHERE name = ` + mark(1),
		list:   `SELECT name, title, status, modified, due, amount, done, owner FROM "tabBench" WHERE status = ` + mark(1) + " ORDER BY modified DESC, name DESC LIMIT " + mark(2),
		insert: `INSERT INTO "tabBench" (` + benchColumns + ") VALUES (" + marks[2:] + ")",
		update: `UPDATE "tabBench" SET title = ` + mark(1) + " WHERE name = " + mark(2),
	}
}

func fill(b *testing.B, s document.Store) {
	b.Helper()
	err := s.Write(b.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Migrate(b.Context(), bench); err != nil {
			return err
		}
		for i := range benchRows {
			if err := tx.Insert(b.Context(), benchDoc(fmt.Sprintf("doc-%05d", i), i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSQLite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "site.db")
	s := openFile(b, path)
	fill(b, s)
	pragmas := "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-2000)"
	readers, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		b.Fatal(err)
	}
	defer readers.Close()
	readers.SetMaxOpenConns(4)
	readers.SetMaxIdleConns(4)
	writer, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		b.Fatal(err)
	}
	defer writer.Close()
	writer.SetMaxOpenConns(1)
	mark := func(n int) string { return fmt.Sprintf("?%d", n) }
	benchmarks(b, s, newBare(readers, mark), newBare(writer, mark))
}

func BenchmarkPostgres(b *testing.B) {
	url := postgresURL(b)
	schema := newSchema(b, url)
	s := openSchema(b, url, schema)
	fill(b, s)
	if _, err := connect(b, url, schema).Exec(b.Context(), `ANALYZE "tabBench"`); err != nil {
		b.Fatal(err)
	}
	config := connect(b, url, schema).Config()
	db := stdlib.OpenDB(*config)
	defer db.Close()
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	plain := newBare(db, func(n int) string { return fmt.Sprintf("$%d", n) })
	benchmarks(b, s, plain, plain)
}

func benchmarks(b *testing.B, s *store.Store, read, write bare) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("read/store/g=%d", workers), func(b *testing.B) {
			parallel(b, workers, func(i int64, buf *[]byte) error {
				return s.Read(b.Context(), func(tx document.Tx) (err error) {
					*buf, err = tx.AppendDocument(b.Context(), (*buf)[:0], nil, bench, benchName(i), doctype.View{Levels: 1}, nil)
					return err
				})
			})
		})
		b.Run(fmt.Sprintf("read/bare/g=%d", workers), func(b *testing.B) {
			parallelBare(b, workers, read.db, read.read, func(stmt *sql.Stmt, i int64) error { return drain(stmt, benchName(i)) })
		})
		b.Run(fmt.Sprintf("list/store/g=%d", workers), func(b *testing.B) {
			parallel(b, workers, func(_ int64, buf *[]byte) error {
				sel := benchList()
				return s.Read(b.Context(), func(tx document.Tx) (err error) {
					*buf, _, err = tx.AppendRows(b.Context(), (*buf)[:0], &sel, false)
					return err
				})
			})
		})
		b.Run(fmt.Sprintf("list/bare/g=%d", workers), func(b *testing.B) {
			parallelBare(b, workers, read.db, read.list, func(stmt *sql.Stmt, _ int64) error { return drain(stmt, "Open", 20) })
		})
		b.Run(fmt.Sprintf("insert/store/g=%d", workers), func(b *testing.B) {
			parallel(b, workers, func(int64, *[]byte) error {
				d := benchDoc(fmt.Sprintf("new-%d", serial.Add(1)), 7)
				return s.Write(b.Context(), document.OneWrite, func(tx document.Tx) error { return tx.Insert(b.Context(), d) })
			})
		})
		b.Run(fmt.Sprintf("insert/bare/g=%d", workers), func(b *testing.B) {
			parallelBare(b, workers, write.db, write.insert, func(stmt *sql.Stmt, _ int64) error {
				_, err := stmt.Exec(benchDoc(fmt.Sprintf("new-%d", serial.Add(1)), 7).Values()...)
				return err
			})
		})
		b.Run(fmt.Sprintf("update/store/g=%d", workers), func(b *testing.B) {
			columns := []*doctype.Field{bench.Field("title")}
			parallel(b, workers, func(i int64, _ *[]byte) error {
				d := benchDoc(benchName(i), 7)
				d.Put("title", fmt.Sprintf("title %d", serial.Add(1))) // equal values would not be written
				return s.Write(b.Context(), document.OneWrite, func(tx document.Tx) error {
					_, err := tx.Update(b.Context(), nil, d, columns, nil, "")
					return err
				})
			})
		})
		b.Run(fmt.Sprintf("update/bare/g=%d", workers), func(b *testing.B) {
			parallelBare(b, workers, write.db, write.update, func(stmt *sql.Stmt, i int64) error {
				d := benchDoc(benchName(i), 7)
				_, err := stmt.Exec(fmt.Sprintf("title %d", serial.Add(1)), d.Name())
				return err
			})
		})
	}
}

var serial atomic.Int64

func benchName(i int64) string { return fmt.Sprintf("doc-%05d", i*7919%benchRows) }

func benchList() doctype.Select {
	operand := func(name string) doctype.Operand { return doctype.Operand{Field: bench.Field(name)} }
	sel := doctype.Select{
		DocType: bench,
		Where:   doctype.Compare{Operand: operand("status"), Op: query.Eq, Value: "Open"},
		Order:   []doctype.OrderBy{{Operand: operand("modified"), Desc: true}},
		Length:  20,
	}
	for _, name := range []string{"name", "title", "status", "modified", "due", "amount", "done", "owner"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: operand(name), Key: name})
	}
	return sel
}

// cpuTime is what the process has used, so that a busy machine does not count.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// parallel runs fn from a fixed number of goroutines.
func parallel(b *testing.B, workers int, fn func(i int64, buf *[]byte) error) {
	b.ReportAllocs()
	b.ResetTimer()
	cpu := cpuTime()
	defer func() { b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N), "cpu-ns/op") }()
	left := atomic.Int64{}
	left.Store(int64(b.N))
	done := make(chan error, workers)
	for range workers {
		go func() {
			var buf []byte
			for {
				i := left.Add(-1)
				if i < 0 {
					done <- nil
					return
				}
				if err := fn(i, &buf); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

func parallelBare(b *testing.B, workers int, db *sql.DB, text string, fn func(stmt *sql.Stmt, i int64) error) {
	stmt, err := db.PrepareContext(context.WithoutCancel(b.Context()), text)
	if err != nil {
		b.Fatal(err)
	}
	defer stmt.Close()
	parallel(b, workers, func(i int64, _ *[]byte) error { return fn(stmt, i) })
}

// drain reads rows into strings and numbers, and makes no JSON of them.
func drain(stmt *sql.Stmt, args ...any) error {
	rows, err := stmt.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	return rows.Err()
}
