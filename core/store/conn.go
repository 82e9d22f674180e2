package store

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"armature/core/fair"
)

// conn is where statements run: a pool, a transaction, the one writer.
type conn interface {
	// query hands each row of a statement to fn; the slice is only valid during the
	// call. It reads every row of what is no list, also when fn has failed: an unfinished
	// RETURNING keeps SQLite from moving its log into the file.
	query(ctx context.Context, st *statement, args []any, fn rowFunc) error
	exec(ctx context.Context, st *statement, args []any) (int64, error)
}

// transaction is a conn that can be ended. After either it is not used again.
type transaction interface {
	conn
	commit(ctx context.Context) error
	rollback()
}

// backend is one database: where reads run, and how a write comes by its
// transaction.
type backend interface {
	// reader runs statements that each see what is committed.
	reader() conn
	// begin starts a transaction of its own, or one that only reads, every
	// statement of which sees the state at its first one.
	begin(ctx context.Context, o terms) (transaction, error)
	// brief runs fn in a transaction, its own or shared, and commits.
	brief(ctx context.Context, fn func(conn) error) error
	// once is brief for a fn that runs one statement, or several when many.
	once(ctx context.Context, many bool, fn func(conn) error) error

	// snapshot is a transaction that only reads, and every statement of which sees
	// the state at its first one.
	snapshot(ctx context.Context) (transaction, error)

	diagnose(err error) diagnosis
	ping(ctx context.Context) error
	close() error
}

// rowFunc takes the values of one row.
type rowFunc = func(values []any) error

// unknownOutcome is a commit whose answer was lost: it must not be run again.
type unknownOutcome struct{ err error }

func (e unknownOutcome) Error() string { return "commit, outcome unknown: " + e.err.Error() }
func (e unknownOutcome) Unwrap() error { return e.err }

// exec runs a statement that returns no rows and tells how many it changed.
func (s *Store) exec(ctx context.Context, c conn, st *statement, args []any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := checkText(args); err != nil {
		return 0, err
	}
	w := s.watch(ctx, st)
	if s.engine.comments {
		st = commented(ctx, st)
	}
	paused := s.engine.delegate(ctx)
	n, err := c.exec(ctx, st, args)
	paused.Resume(ctx)
	w.done(args)
	return n, err
}

// query runs a statement that returns rows, as conn.query does.
func (s *Store) query(ctx context.Context, c conn, st *statement, args []any, fn rowFunc) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkText(args); err != nil {
		return err
	}
	w := s.watch(ctx, st)
	if s.engine.comments {
		st = commented(ctx, st)
	}
	fn = charged(ctx, fn)
	var err error
	if paused := s.engine.delegate(ctx); paused != nil {
		err = c.query(ctx, st, args, resumed(ctx, paused, fn))
		paused.Resume(ctx)
	} else {
		err = c.query(ctx, st, args, fn)
	}
	w.done(args)
	return err
}

// delegate gives the processor of whoever waits for a database that computes elsewhere to
// another; nil: nobody waits, or nothing was held.
func (e *engine) delegate(ctx context.Context) *fair.Work {
	if !e.remote {
		return nil
	}
	return fair.Delegate(ctx)
}

// resumed is fn, before whose first row a processor is taken again.
func resumed(ctx context.Context, paused *fair.Work, fn rowFunc) rowFunc {
	begun := false
	return func(values []any) error {
		if !begun {
			paused.Resume(ctx)
			begun = true
		}
		return fn(values)
	}
}

// scan reads and closes what a pool of database/sql answered.
func scan(rows *sql.Rows, err error, st *statement, fn rowFunc) error {
	if err != nil {
		return err
	}
	defer rows.Close() // when fn panics
	err = scanRows(rows, st, fn)
	if closed := rows.Close(); err == nil {
		err = closed
	}
	return err
}

func scanRows(rows *sql.Rows, st *statement, fn rowFunc) error {
	row := takeRow(len(st.cells))
	defer row.put()
	var failed error
	for rows.Next() {
		if failed != nil {
			continue
		}
		if failed = rows.Scan(row.into...); failed == nil {
			failed = fn(row.values)
		}
		if failed != nil && st.list {
			break // the rest of a list is nobody's
		}
	}
	if failed != nil {
		return failed
	}
	return rows.Err()
}

// row is the space one row is scanned into, used again for the next.
type row struct {
	values []any
	into   []any // pointers to values
}

var rowPool = sync.Pool{New: func() any { return new(row) }}

func takeRow(columns int) *row {
	r := rowPool.Get().(*row)
	if cap(r.values) < columns {
		r.values = make([]any, columns)
		r.into = make([]any, columns)
		for i := range r.values {
			r.into[i] = &r.values[i]
		}
	}
	r.values, r.into = r.values[:columns], r.into[:columns]
	return r
}

func (r *row) put() {
	clear(r.values) // keep no document alive
	rowPool.Put(r)
}

func storable(s string) bool {
	return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

func cores() int { return runtime.GOMAXPROCS(0) }
