package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"armature/core/doctype"
	"armature/core/document"
)

// Snapshot is everything a database held at one moment, while others go on
// writing. It reads only.
type Snapshot struct {
	document.Tx
	s    *Store
	conn conn
}

// Snapshot runs fn with the state of the database at one moment. It may take
// long: nothing times it out, no writer waits for it. On SQLite the write-ahead
// log grows meanwhile; on PostgreSQL changes of the tables that were read wait.
func (s *Store) Snapshot(ctx context.Context, fn func(*Snapshot) error) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	own, err := s.backend.snapshot(ctx)
	if err != nil {
		return s.explain(err, nil, "")
	}
	defer own.rollback()
	// The moment is that of the first statement.
	if err := s.query(ctx, own, s.own.versions, nil, func([]any) error { return nil }); err != nil {
		return s.explain(err, nil, "")
	}
	return fn(&Snapshot{Tx: &tx{s: s, kind: viewing, conn: own}, s: s, conn: own})
}

// Counters calls fn for every named counter, by name.
func (n *Snapshot) Counters(ctx context.Context, fn func(name string, value int64) error) error {
	st := n.s.fixed([]cell{{}, {}}, "SELECT name, value FROM armature_counter ORDER BY name"+n.s.engine.collate)
	return n.s.query(ctx, n.conn, st, nil, func(row []any) error {
		name, _ := row[0].(string)
		value, _ := row[1].(int64)
		return fn(name, value)
	})
}

// Load stores rows of a DocType as they are, in one transaction: canonical
// values in the order of dt.Columns. It is for filling a database that nobody
// serves yet; rows of child tables are stored like all others.
func (s *Store) Load(ctx context.Context, dt *doctype.DocType, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	err := s.retry(ctx, time.Now().Add(s.retryFor), nil, func() (class, error) {
		err := s.backend.brief(ctx, func(c conn) error {
			if s.engine.unnest != nil {
				return s.insertAtOnce(ctx, c, dt, rows)
			}
			for _, row := range rows {
				if err := s.insertRow(ctx, c, dt, row); err != nil {
					return err
				}
			}
			return nil
		})
		return s.diagnose(err).class, err
	})
	return s.explain(err, dt, "")
}

// SetCounter sets a named counter.
func (s *Store) SetCounter(ctx context.Context, name string, value int64) error {
	p := s.engine.params()
	st := s.fixed(nil, "INSERT INTO armature_counter (name, value) VALUES (?, ?) "+
		"ON CONFLICT (name) DO UPDATE SET value = excluded.value", p.next(), p.next())
	err := s.backend.brief(ctx, func(c conn) error {
		_, err := s.exec(ctx, c, st, []any{name, value})
		return err
	})
	return s.explain(err, nil, "")
}

// snapshot is a reader in a transaction. It takes one of the places for those that
// read for long, so that there is a connection for what is read by itself.
func (b *sqliteBackend) snapshot(ctx context.Context) (transaction, error) {
	return b.view(ctx, 0)
}

// view is a snapshot whose statements end after a time; 0: they do not.
func (b *sqliteBackend) view(ctx context.Context, limit time.Duration) (transaction, error) {
	if err := takePlace(ctx, b.views, b.writer.wait); err != nil {
		return nil, err
	}
	tx, err := b.pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		<-b.views
		return nil, err
	}
	return &sqliteSnapshot{tx, b, limit}, nil
}

// sqliteSnapshot is a reader in a transaction, with the statements of the pool.
type sqliteSnapshot struct {
	tx    *sql.Tx
	b     *sqliteBackend
	limit time.Duration // of one statement; 0: none
}

func (r *sqliteSnapshot) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	return st.watched(ctx, r.limit, func(ctx context.Context) error { return r.run(ctx, st, args, fn) })
}

func (r *sqliteSnapshot) run(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	if st.fleeting {
		rows, err := r.tx.QueryContext(ctx, st.text, args...)
		return scan(rows, err, st, fn)
	}
	p, err := r.b.texts.take(ctx, st.text)
	if err != nil {
		return err
	}
	defer p.release()
	stmt := r.tx.StmtContext(ctx, p.stmt)
	rows, err := stmt.QueryContext(ctx, args...)
	return errors.Join(scan(rows, err, st, fn), stmt.Close())
}

func (r *sqliteSnapshot) exec(context.Context, *statement, []any) (int64, error) {
	return 0, errSnapshot
}

func (r *sqliteSnapshot) commit(context.Context) error {
	r.rollback() // nothing was written
	return nil
}

func (r *sqliteSnapshot) rollback() {
	_ = r.tx.Rollback()
	<-r.b.views
}

var errSnapshot = errors.New("store: a snapshot only reads")

// snapshot asks for no place among those that read: a backup takes long.
func (b *postgresBackend) snapshot(ctx context.Context) (transaction, error) {
	if err := b.takeTurn(ctx, ""); err != nil {
		return nil, err
	}
	t, err := b.beginOn(ctx, b.writes, beginStandby+b.pooled+"; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0", func() { b.leaveTurn("") })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// HasSchema reports whether a PostgreSQL database has a schema.
func HasSchema(ctx context.Context, url, schema string) (found bool, err error) {
	err = withPostgres(ctx, url, func(db bun.IDB) error {
		return db.NewRaw("SELECT count(*) > 0 FROM pg_namespace WHERE nspname = ?", schema).Scan(ctx, &found)
	})
	return found, err
}

// SchemasWith returns the schemas of a PostgreSQL database whose names begin with
// a prefix and that have a table, by name; those that are another role's alone are
// left out.
func SchemasWith(ctx context.Context, url, prefix, table string) (schemas []string, err error) {
	err = withPostgres(ctx, url, func(db bun.IDB) error {
		return db.NewRaw(`SELECT n.nspname FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
			WHERE left(n.nspname, length(?)) = ? AND c.relname = ? AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'CREATE')
			ORDER BY n.nspname`, prefix, prefix, table).Scan(ctx, &schemas)
	})
	return schemas, err
}

// withPostgres runs fn in a transaction on a connection of its own, behind a pooler or
// not.
func withPostgres(ctx context.Context, url string, fn func(bun.IDB) error) error {
	server, err := parsePostgres(url, defaultSchema)
	if err != nil {
		return err
	}
	settings := strings.TrimPrefix(perTransaction(server.config), "; ")
	db := bun.NewDB(server.pool(1, Options{}), pgdialect.New())
	err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, settings); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		err = fmt.Errorf("PostgreSQL: %w", err)
	}
	return errors.Join(err, db.Close())
}
