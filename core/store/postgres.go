package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// postgresBackend is one schema of a database, behind three handles. Everything
// that belongs together runs on writes. What is read by itself runs on kept,
// where the server keeps one plan for a statement whatever its arguments: right
// for looking a document up by name, and for the lists that one index serves;
// the server by itself would go on planning those, since it does not know how
// little such a list costs. Another list can lose a thousandfold by a kept plan,
// so it runs on lists, where every execution is planned.
type postgresBackend struct {
	writes *sql.DB
	lists  *sql.DB
	kept   *sql.DB
	// turns are the transactions that may be open at once: fewer than there are
	// connections, so that what runs by itself never waits for one of them.
	turns  *admission
	views  chan struct{} // those of them that only read
	wait   time.Duration
	name   string  // of the schema, under which its guests share the budget
	budget *Budget // nil: none

	standby bool // it follows another server, and only reads

	// pooled is what each transaction has to set, where a pooler stands before the
	// server; empty: connections are set when they are made, and keep statements.
	pooled string
}

// commitConns is how many connections write at once unless told otherwise: a
// commit waits for the disk and takes no processor, and the server syncs those
// that wait together.
const commitConns = 16

// searchPath is the parameter that says which schema a connection works in.
const searchPath = "search_path"

// defaultSchema is used where none is named.
const defaultSchema = "public"

// OpenPostgres opens a schema of a PostgreSQL database, which it makes where it
// is missing. The DSN is a URL or a list of key=value; what it says about time
// limits wins over the store's own. Whether a pooler stands before the server is
// found out.
func OpenPostgres(ctx context.Context, dsn, schema string, o Options) (*Store, error) {
	return openPostgres(ctx, dsn, schema, o, postgresEngine)
}

// openPostgres opens a schema of a server that can do what e says.
func openPostgres(ctx context.Context, dsn, schema string, o Options, e engine) (*Store, error) {
	writers := max(2, o.MaxConns)
	if o.MaxConns <= 0 {
		writers = commitConns
	}
	o = o.withDefaults()
	if schema == "" {
		schema = defaultSchema
	}
	server, err := parsePostgres(dsn, schema)
	if err != nil {
		return nil, err
	}
	b := newPostgresBackend(schema, writers, o)
	b.connect(server, writers, o)
	e.collate, err = b.prepareSchema(ctx)
	if meetsPooler(err) {
		if err = b.close(); err == nil {
			b.connectPooled(server, writers, o)
			e.collate, err = b.prepareSchema(ctx)
		}
	}
	if err != nil {
		err = fmt.Errorf("open PostgreSQL schema %s: %w", schema, err)
		return nil, errors.Join((&Store{backend: b}).explain(err, nil, ""), b.close())
	}
	e.comments = server.comments
	s, err := newStore(ctx, e, bun.NewDB(b.writes, pgdialect.New()), b, o)
	if err == nil {
		s.replicas = newReplicaPools(schema, o)
		if o.Bell != nil && b.pooled == "" { // a pooler passes nothing on
			s.rope, s.schema = o.Bell.of(server), schema
		}
	}
	return s, err
}

// newPostgresBackend makes the backend of a schema that is not connected yet.
func newPostgresBackend(schema string, writers int, o Options) *postgresBackend {
	return &postgresBackend{
		turns:  newAdmission(writers-1, o.WriteWait),
		views:  make(chan struct{}, max(1, (writers-1)/2)),
		wait:   o.WriteWait,
		name:   schema,
		budget: o.Budget,
	}
}

// connect makes the pools, of connections that are the server's own.
func (b *postgresBackend) connect(server *postgresServer, writers int, o Options) {
	b.writes = server.pool(writers, o, stdlib.OptionAfterConnect(asksForSerializable))
	b.connectReaders(server, o)
}

func (b *postgresBackend) connectReaders(server *postgresServer, o Options, more ...stdlib.OptionOpenDB) {
	b.lists = server.with(map[string]string{"plan_cache_mode": "force_custom_plan"}).pool(o.MaxConns, o, more...)
	// An index serves what it keeps plans for; what the planner thinks of values
	// that it has not seen must not lead it to read whole tables.
	generic := map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}
	b.kept = server.with(generic).pool(2*o.MaxConns, o, more...)
}

// stillThere has the pool drop a connection that the server has ended while it
// was idle, and take another: after a restart nobody who comes is refused. What
// was idle for a second is pinged besides.
func stillThere(_ context.Context, c *pgx.Conn) error {
	if c.PgConn().TxStatus() != 'I' || !quiet(c.PgConn().Conn()) {
		return driver.ErrBadConn
	}
	return nil
}

// prepareSchema makes the schema and returns the collation that text columns
// need: none where the database compares by code point already. The error is one
// that meetsPooler knows where connections are shared, and b does not know it.
func (b *postgresBackend) prepareSchema(ctx context.Context) (collate string, err error) {
	// On lists: it says nothing of isolation, and a standby knows no serializable.
	on, err := b.lists.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer on.Close() // gives it back, which cannot fail
	err = native(on, func(c *pgx.Conn) error {
		var pid uint32
		var foreign bool
		const ask = "SELECT pg_backend_pid(), 'a' < 'B' OR 'é' < 'z'"
		if err := c.QueryRow(ctx, ask, pgx.QueryExecModeExec).Scan(&pid, &foreign); err != nil {
			return err
		}
		if b.pooled == "" && pid != c.PgConn().PID() {
			return errPooler
		}
		if foreign {
			collate = ` COLLATE "C"`
		}
		if b.name == defaultSchema {
			return nil
		}
		_, err := c.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{b.name}.Sanitize())
		// Two processes may come to it at once; the loser finds it made.
		if err != nil && diagnosePostgres(err).class != duplicate {
			return err
		}
		return nil
	})
	return collate, err
}

func (b *postgresBackend) reader() conn { return b }

// once runs one statement as a transaction.
func (b *postgresBackend) once(ctx context.Context, many bool, fn func(conn) error) error {
	switch {
	case many:
		return b.brief(ctx, fn)
	case b.pooled != "":
		return b.alone(ctx, b.writes, terms{}.beginText(b.pooled), fn)
	}
	return fn(postgresOnce{b})
}

func (b *postgresBackend) brief(ctx context.Context, fn func(conn) error) error {
	own, err := b.begin(ctx, terms{})
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			own.rollback()
		}
	}()
	if err := fn(own); err != nil {
		return err
	}
	ended = true
	return own.commit(ctx)
}

// begin starts a transaction. Those that only read have half of the places, so
// that writers find one however long readers stay.
func (b *postgresBackend) begin(ctx context.Context, o terms) (transaction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	leave, err := b.admit(ctx, o)
	if err != nil {
		return nil, err
	}
	begin := o.beginText(b.pooled)
	if b.standby {
		begin = beginStandby + b.pooled
	}
	t, err := b.beginOn(ctx, b.writes, begin, leave)
	if o.reads && !b.standby && diagnosePostgres(err).class == stalePlan { // a standby: the feature is not supported
		if leave, err = b.admit(ctx, o); err == nil {
			t, err = b.beginOn(ctx, b.writes, beginStandby+b.pooled, leave)
		}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (b *postgresBackend) admit(ctx context.Context, o terms) (leave func(), err error) {
	if !o.reads {
		return func() { b.leaveTurn(o.party) }, b.takeTurn(ctx, o.party)
	}
	if err := takePlace(ctx, b.views, b.wait); err != nil {
		return nil, err
	}
	if err := b.takeTurn(ctx, ""); err != nil {
		<-b.views
		return nil, err
	}
	return func() { b.leaveTurn(""); <-b.views }, nil
}

// takeTurn waits until a transaction of a party may begin: one of this store's, and
// one of the process's, where the guests of a site are a party.
func (b *postgresBackend) takeTurn(ctx context.Context, party string) error {
	if err := b.turns.turnFor(ctx, party, 0); err != nil || b.budget == nil {
		return err
	}
	err := b.budget.turns.acquire(&job{ctx: ctx, site: b.name, party: b.guestsOf(party), wait: b.wait})
	if err != nil {
		b.turns.release(party)
	}
	return err
}

func (b *postgresBackend) leaveTurn(party string) {
	if b.budget != nil {
		b.budget.turns.release(b.guestsOf(party))
	}
	b.turns.release(party)
}

// guestsOf is the party that a party of this store is among those of all stores.
func (b *postgresBackend) guestsOf(party string) string {
	if party == "" {
		return ""
	}
	return b.name
}

func (b *postgresBackend) ping(ctx context.Context) error { return b.writes.PingContext(ctx) }

func (b *postgresBackend) close() error {
	var failed error
	for _, db := range []*sql.DB{b.writes, b.lists, b.kept} {
		if b.budget != nil {
			b.budget.forget(db)
		}
		failed = errors.Join(failed, db.Close())
	}
	return failed
}

func (b *postgresBackend) handle(st *statement) *sql.DB {
	if st.list && !st.planned {
		return b.lists
	}
	return b.kept
}

func (b *postgresBackend) exec(ctx context.Context, st *statement, args []any) (n int64, err error) {
	if b.pooled != "" {
		err = b.alone(ctx, b.writes, terms{}.beginText(b.pooled), func(c conn) error {
			n, err = c.exec(ctx, st, args)
			return err
		})
		return n, err
	}
	return affected(b.writes.ExecContext(ctx, st.text, st.execArgs(args)...))
}

func (b *postgresBackend) diagnose(err error) diagnosis { return diagnosePostgres(err) }
