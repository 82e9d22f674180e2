package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"armature/core/fair"
)

// rowWait is how long a statement of a transaction waits for the lock of
// another. Two that wait for each other end by it and not by the server's
// deadlock_timeout, a second; whoever waited takes its turn and runs again.
const rowWait = 300 * time.Millisecond

// turnTables is how many tables there are to lock for a turn. They are empty:
// LOCK TABLE is the one statement that waits for others and leaves the
// transaction without a snapshot, so that what is read afterwards is what those
// others have left. It belongs to the transaction, as a pooler wants it.
const turnTables = 16

func turnTable(n int) string { return fmt.Sprintf("armature_turn_%02d", n) }

// terms say how a transaction begins.
type terms struct {
	reads bool   // it only reads, from one moment
	turns []int  // what it waits for before anything is read
	party string // who waits with others of that name; empty: it runs no guests and goes before those that do
}

// beginText makes every transaction serializable: what it read is still so when
// it commits, or it fails and is run again. settings are what it has to set besides
// (postgresBackend.pooled): before the tables are locked, which are found by them.
func (o terms) beginText(settings string) string {
	if o.reads {
		return "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY" + settings
	}
	var b strings.Builder
	b.WriteString("BEGIN ISOLATION LEVEL SERIALIZABLE" + settings + "; ")
	if len(o.turns) > 0 {
		tables := make([]string, 0, len(o.turns))
		for _, n := range slices.Compact(slices.Sorted(slices.Values(o.turns))) {
			tables = append(tables, turnTable(n))
		}
		b.WriteString("LOCK TABLE " + strings.Join(tables, ", ") + " IN EXCLUSIVE MODE; ")
	}
	fmt.Fprintf(&b, "SET LOCAL lock_timeout = %d", rowWait.Milliseconds())
	return b.String()
}

// beginStandby is how one reads from a server that only follows another, which
// knows no serializable transactions: there is nobody on it who writes.
const beginStandby = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// postgresTx is a transaction, and the connection it has until on is closed.
// Rows are read from native without sql.Conn.Raw around it: when what Raw runs
// panics, Raw closes the connection, and waits for that until the transaction has
// ended, which is what the panicking goroutine would do next.
type postgresTx struct {
	on     *sql.Conn
	native *pgx.Conn
	b      *postgresBackend
	leave  func() // gives the turn among the store's transactions back
}

// beginOn starts a transaction on a connection of a pool. leave is called when it has
// ended, or here when it does not begin.
func (b *postgresBackend) beginOn(ctx context.Context, pool *sql.DB, text string, leave func()) (*postgresTx, error) {
	defer fair.Delegate(ctx).Resume(ctx)
	on, err := pool.Conn(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	t := &postgresTx{on: on, b: b, leave: leave}
	err = native(on, func(c *pgx.Conn) error { t.native = c; return nil })
	if err == nil {
		_, err = t.native.Exec(ctx, text)
	}
	if err != nil {
		t.rollback()
		return nil, err
	}
	return t, nil
}

func (t *postgresTx) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	mode := pgx.QueryExecModeCacheStatement
	switch {
	case st.fleeting:
		mode = pgx.QueryExecModeExec
	case st.passing:
		mode = pgx.QueryExecModeDescribeExec
	case st.list && !st.planned, t.b.pooled != "": // planned for its arguments, as on the handle for lists
		mode = pgx.QueryExecModeCacheDescribe
	}
	return readRows(ctx, t.native, st, mode, args, fn)
}

func (t *postgresTx) exec(ctx context.Context, st *statement, args []any) (int64, error) {
	tag, err := t.native.Exec(ctx, st.text, st.execArgs(args)...)
	return tag.RowsAffected(), err
}

// execArgs are the arguments of a statement that returns no rows, with how it is run in
// front where that is not as the connection is used to.
func (st *statement) execArgs(args []any) []any {
	switch {
	case st.fleeting: // preparing it would push out a statement that comes again
		return append([]any{pgx.QueryExecModeExec}, args...)
	case st.passing:
		return append([]any{pgx.QueryExecModeDescribeExec}, args...)
	}
	return args
}

// commit tells a commit that failed from one whose answer was lost. What the
// server answers with an ERROR is undone.
func (t *postgresTx) commit(ctx context.Context) error {
	paused := fair.Delegate(ctx)
	tag, err := t.native.Exec(context.WithoutCancel(ctx), "COMMIT")
	paused.Resume(ctx)
	t.end()
	var answer *pgconn.PgError
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return pgx.ErrTxCommitRollback
	case err == nil, errors.As(err, &answer) && answer.SeverityUnlocalized == "ERROR":
		return err
	}
	return unknownOutcome{err}
}

// rollback ends the transaction. A connection on which that fails is closed by
// the pool; the server rolls back what it loses sight of.
func (t *postgresTx) rollback() {
	if t.native != nil && !t.native.IsClosed() && t.native.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), t.b.wait)
		_, _ = t.native.Exec(ctx, "ROLLBACK")
		cancel()
	}
	t.end()
}

func (t *postgresTx) end() {
	_ = t.on.Close() // has nothing to say that the statement has not
	t.leave()
}
