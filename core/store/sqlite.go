package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteBackend is a file with any number of readers and one writer.
type sqliteBackend struct {
	pool   *sqlitePool // readers
	texts  *statements
	writer *writer
	views  chan struct{} // places for transactions that only read
	gone   chan struct{} // closed: the background work has ended
	stop   context.CancelFunc
}

// readWait is how long a connection waits for the lock of another process.
const readWait = 5 * time.Second

// OpenSQLite opens the file at path, which it makes where it is missing.
func OpenSQLite(ctx context.Context, path string, o Options) (*Store, error) {
	o = o.withDefaults()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open SQLite file %s: %w", path, err)
	}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("open SQLite file: %w", err)
	}
	w, err := openWriterPatiently(ctx, path, o)
	if err != nil {
		return nil, (&Store{backend: &sqliteBackend{}}).explain(fmt.Errorf("open SQLite file %s: %w", path, err), nil, "")
	}
	pool, err := openSQLitePool(sqliteDSN(path, readWait, "query_only(1)", "cache_size(-2000)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	pool.SetMaxOpenConns(2 * o.MaxConns) // half of them for views
	pool.SetMaxIdleConns(2 * o.MaxConns) // fewer, and they would be opened and closed all the time
	pool.SetConnMaxIdleTime(time.Minute)
	b := &sqliteBackend{pool: pool, texts: newStatements(pool.DB, maxPrepared), writer: w, views: make(chan struct{}, o.MaxConns), gone: make(chan struct{})}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	go b.checkpoints(background, o)
	return newStore(ctx, sqliteEngine, bun.NewDB(pool.DB, sqlitedialect.New()), b, o)
}

// makePrivate makes a missing file readable by its owner only: SQLite would let
// everybody read it, and its log and index take the mode of the file.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// sqliteDSN names a file and the pragmas of its connections. Text in double
// quotes is never taken for a string: a misspelt column is an error. The file
// is there, and a connection never makes it: who removed it meant it.
func sqliteDSN(path string, wait time.Duration, pragmas ...string) string {
	v := url.Values{"_dqs": {"0"}, "_error_rc": {"1"}, "mode": {"rw"}}
	// The time-out comes first: setting the others may have to wait.
	v["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "temp_store(MEMORY)"}, pragmas...)
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: v.Encode()}
	return u.String()
}

func (b *sqliteBackend) reader() conn { return b }

// query runs a statement on a reader.
func (b *sqliteBackend) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	return st.watched(ctx, statementTime, func(ctx context.Context) error {
		if st.fleeting {
			rows, err := b.pool.QueryContext(ctx, st.text, args...)
			return scan(rows, err, st, fn)
		}
		return b.texts.query(ctx, st, args, fn)
	})
}

func (b *sqliteBackend) exec(context.Context, *statement, []any) (int64, error) {
	return 0, errors.New("store: a write on a reader")
}

// begin takes no turn: there is one writer. One that only reads gets a reader.
func (b *sqliteBackend) begin(ctx context.Context, o terms) (transaction, error) {
	if o.reads {
		return b.view(ctx, statementTime)
	}
	return b.writer.begin(ctx, o.party)
}

func (b *sqliteBackend) brief(ctx context.Context, fn func(conn) error) error {
	return b.writer.group(ctx, &job{ctx: ctx, fn: fn, savepoint: true})
}

// once needs no savepoint for one statement: it either happened or did not.
func (b *sqliteBackend) once(ctx context.Context, many bool, fn func(conn) error) error {
	return b.writer.group(ctx, &job{ctx: ctx, fn: fn, savepoint: many})
}

func (b *sqliteBackend) ping(ctx context.Context) error { return b.pool.PingContext(ctx) }

func (b *sqliteBackend) close() error {
	b.stop()
	<-b.gone
	b.texts.close()
	// The writer goes last: the last connection moves the log into the file.
	return errors.Join(b.pool.Close(), b.writer.close())
}

// diagnose understands SQLite's result codes.
func (b *sqliteBackend) diagnose(err error) diagnosis {
	if errors.Is(err, errTakenAlong) {
		return diagnosis{class: again}
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return diagnosis{}
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return diagnosis{duplicate, columnOf(e.Error())}
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE:
		return diagnosis{class: full} // a quota, a limit of the process, or shared memory on a full disk
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return diagnosis{class: busy}
	case sqlite3.SQLITE_FULL:
		return diagnosis{class: full}
	case sqlite3.SQLITE_READONLY:
		return diagnosis{class: frozen}
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return diagnosis{class: away}
	case sqlite3.SQLITE_TOOBIG:
		return diagnosis{class: badValue}
	}
	if strings.Contains(e.Error(), "integer overflow") { // a sum; it has no code of its own
		return diagnosis{class: badValue}
	}
	return diagnosis{}
}

// columnOf takes the column out of "... UNIQUE constraint failed: table.column
// (2067)".
func columnOf(message string) string {
	const failed = "UNIQUE constraint failed: "
	i := strings.LastIndex(message, failed)
	if i < 0 {
		return ""
	}
	column := message[i+len(failed):]
	if end := strings.LastIndex(column, " ("); end >= 0 {
		column = column[:end]
	}
	return column[strings.LastIndexByte(column, '.')+1:]
}
