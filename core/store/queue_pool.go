package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// queueConns is how many connections a queue of jobs takes, whatever runs: it hands
// over and completes many at once.
const queueConns = 3

// QueuePool is connections to a database for a library that keeps a queue of jobs there
// and brings its own statements: to a file, of which it is the only one to write at a
// time, or to a PostgreSQL server, in no schema, as every statement names its own.
type QueuePool struct {
	SQLite   *sql.DB       // nil: it is on PostgreSQL
	Postgres *pgxpool.Pool // nil: it is in a file
}

// OpenQueuePool makes the connections, none of them yet. A file is made where it is
// missing. What it keeps can be made again from what sites keep: a loss of power may
// take the last transactions, and never leaves half of one.
func OpenQueuePool(ctx context.Context, url string) (*QueuePool, error) {
	if isPostgres(url) {
		return openPostgresQueue(ctx, url)
	}
	path, err := filepath.Abs(url)
	if err != nil {
		return nil, fmt.Errorf("open SQLite file %s: %w", url, err)
	}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("open SQLite file: %w", err)
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, 2*readWait, "journal_mode(WAL)", "synchronous(NORMAL)")+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &QueuePool{SQLite: db}, nil
}

func openPostgresQueue(ctx context.Context, url string) (*QueuePool, error) {
	server, err := parsePostgres(url, defaultSchema)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	// What a pooler in transaction mode does not know is left out: nothing is set on a
	// connection, and statements have no names.
	perTransaction(server.config)
	for name := range server.config.RuntimeParams {
		if name != "application_name" {
			delete(server.config.RuntimeParams, name)
		}
	}
	server.config.RuntimeParams["application_name"] = "armature jobs"
	config.ConnConfig = server.config
	config.BeforeConnect = server.renew
	config.MaxConns, config.MinConns = queueConns, 0
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	return &QueuePool{Postgres: pool}, nil
}

// Alone has fn run while no other process runs one by the same table of a schema, which
// is there: fn may use the pool. Rows of the table are read and written meanwhile. Of a
// file there is one process.
func (p *QueuePool) Alone(ctx context.Context, schema, table string, fn func(ctx context.Context) error) error {
	if p.Postgres == nil {
		return fn(ctx)
	}
	return pgx.BeginFunc(ctx, p.Postgres, func(tx pgx.Tx) error {
		lock := "LOCK TABLE " + pgx.Identifier{schema, table}.Sanitize() + " IN SHARE UPDATE EXCLUSIVE MODE" // which excludes itself
		if _, err := tx.Exec(ctx, lock); err != nil {
			return err
		}
		return fn(ctx)
	})
}

// Exec runs one statement with its arguments and tells how many rows it has changed.
func (p *QueuePool) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if p.Postgres != nil {
		tag, err := p.Postgres.Exec(ctx, statement, args...)
		return tag.RowsAffected(), err
	}
	result, err := p.SQLite.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Close closes the connections. Nobody uses them any more.
func (p *QueuePool) Close() error {
	if p.Postgres != nil {
		p.Postgres.Close()
		return nil
	}
	return p.SQLite.Close()
}
