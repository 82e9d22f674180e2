package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A pooler in transaction mode, such as PgBouncer, gives a client a connection to the
// server for one transaction, and then another one: what is set on a connection, and
// the statements it keeps, are somebody else's later. Behind one each transaction sets
// what it needs, no statement has a name, and what runs by itself is a transaction.
// Nothing of that is done where no pooler stands.

// errPooler says that a connection is not the server's own.
var errPooler = errors.New("a pooler stands before PostgreSQL")

// meetsPooler reports whether an error says that a pooler stands before the server. It
// is found out when a schema is opened, by what is asked then anyway: a pooler refuses
// what it does not know of the parameters with which a connection begins, or where it
// is told to ignore them, says another number of the server's process than the server
// does, since it hands out such numbers itself for cancelling.
func meetsPooler(err error) bool {
	if errors.Is(err, errPooler) {
		return true
	}
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "08P01" && strings.Contains(answer.Message, "startup parameter")
}

// tracked are the parameters that PgBouncer keeps for each client.
var tracked = []string{"application_name", "client_encoding", "DateStyle", "standard_conforming_strings", "TimeZone"}

// perTransaction takes from a configuration what connections are set to when they are
// made, and returns it as what follows a BEGIN.
func perTransaction(config *pgx.ConnConfig) (settings string) {
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	config.StatementCacheCapacity = 0
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(config.RuntimeParams)) {
		if slices.Contains(tracked, name) {
			continue
		}
		value := config.RuntimeParams[name]
		if name != searchPath { // which is an identifier already
			value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		b.WriteString("; SET LOCAL " + pgx.Identifier{name}.Sanitize() + " = " + value)
		delete(config.RuntimeParams, name)
	}
	return b.String()
}

// connectPooled makes the pools anew, of connections to a pooler.
func (b *postgresBackend) connectPooled(server *postgresServer, writers int, o Options) {
	server = server.with(nil)
	b.pooled = perTransaction(server.config)
	b.writes = server.pool(writers, o)
	b.lists = server.pool(o.MaxConns, o)
	b.kept = server.pool(2*o.MaxConns, o)
}

// queryPooled runs a statement by itself, as query does.
func (b *postgresBackend) queryPooled(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	for n := 1; ; n++ {
		rows := 0
		err := b.alone(ctx, b.handle(st), "BEGIN ISOLATION LEVEL READ COMMITTED"+b.pooled, func(c conn) error {
			return c.query(ctx, st, args, func(values []any) error {
				rows++
				return fn(values)
			})
		})
		// What is known of its columns may be from before the table changed.
		if err == nil || rows > 0 || n == maxStale || diagnosePostgres(err).class != stalePlan {
			return err
		}
	}
}

// alone runs fn, which runs one statement, in a transaction that takes no turn: who has
// one may wait for it.
func (b *postgresBackend) alone(ctx context.Context, pool *sql.DB, begin string, fn func(conn) error) error {
	var t *postgresTx
	for try := 1; t == nil; try++ {
		var err error
		// A connection may have died while nobody used it.
		if t, err = b.beginOn(ctx, pool, begin, func() {}); err != nil && (try == maxStale || !pgconn.SafeToRetry(err)) {
			return err
		}
	}
	ended := false
	defer func() {
		if !ended { // fn has failed, or panics
			t.rollback()
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	ended = true
	return t.commit(ctx)
}
