package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresOnce runs each write as a serializable transaction of its own: one that
// is not serializable is not seen by those that are, and their reads would hold
// for less than they promise.
type postgresOnce struct{ *postgresBackend }

func (o postgresOnce) exec(ctx context.Context, st *statement, args []any) (n int64, err error) {
	for try := 1; ; try++ {
		c, err := o.writes.Conn(ctx)
		if err != nil {
			return 0, err
		}
		err = native(c, func(c *pgx.Conn) error {
			n, err = execAlone(ctx, c, st, args)
			return err
		})
		_ = c.Close() // gives it back, which cannot fail
		if err == nil || try == maxStale || !pgconn.SafeToRetry(err) && diagnosePostgres(err).class != stalePlan {
			return n, err
		}
	}
}

// asksForSerializable has the transactions of a new connection be serializable
// where they do not say what they are: a statement by itself is one then. It asks
// in a statement: PgBouncer turns connections away that come with a parameter it
// does not know.
func asksForSerializable(ctx context.Context, c *pgx.Conn) error {
	// A simple query, and one that a standby takes as well.
	_, err := c.PgConn().Exec(ctx, "SET default_transaction_isolation = 'serializable'").ReadAll()
	return err
}

// execAlone runs a statement by itself.
func execAlone(ctx context.Context, c *pgx.Conn, st *statement, args []any) (int64, error) {
	tag, err := c.Exec(ctx, st.text, st.execArgs(args)...)
	return tag.RowsAffected(), outcomeOf(err)
}

// outcomeOf tells an error after which nothing was done from one after which
// nobody knows: what the server does not answer may have been done.
func outcomeOf(err error) error {
	var answer *pgconn.PgError
	if err == nil || errors.As(err, &answer) && answer.SeverityUnlocalized == "ERROR" || pgconn.SafeToRetry(err) {
		return err
	}
	return unknownOutcome{err}
}
