package store

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"armature/core/document"
)

// replicaPools are the connections of one Store to the replicas.
type replicaPools struct {
	set    *Replicas
	schema string
	o      Options

	mu sync.Mutex
	of map[poolsKey]*postgresBackend
}

type poolsKey struct {
	f      *follower
	pooled bool
}

func newReplicaPools(schema string, o Options) *replicaPools {
	if o.Replicas == nil {
		return nil
	}
	return &replicaPools{set: o.Replicas, schema: schema, o: o, of: map[poolsKey]*postgresBackend{}}
}

// backend is the Store's schema on a replica. Nothing is connected yet.
func (p *replicaPools) backend(f *follower, pooled bool) (*postgresBackend, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := poolsKey{f, pooled}
	if b := p.of[key]; b != nil {
		return b, nil
	}
	server, err := parsePostgres(f.dsn, p.schema)
	if err != nil {
		return nil, err
	}
	o := p.o
	o.Budget = f.budget
	b := newPostgresBackend(p.schema, o.MaxConns+1, o)
	b.standby = true
	if pooled {
		b.connectPooled(server, o.MaxConns, o)
	} else {
		b.writes = server.pool(o.MaxConns, o, stdlib.OptionAfterConnect(f.admits))
		b.connectReaders(server, o, stdlib.OptionAfterConnect(f.admits))
	}
	p.of[key] = b
	return b, nil
}

func (p *replicaPools) close() error {
	if p == nil {
		return nil
	}
	var failed error
	for _, b := range p.of {
		failed = errors.Join(failed, b.close())
	}
	return failed
}

// readReplica runs fn on a replica. done is false where the primary has to: there is no
// replica, or it failed.
func (s *Store) readReplica(ctx context.Context, moment bool, fn func(document.Tx) error) (done bool, err error) {
	if s.replicas == nil || !document.MayUseReplica(ctx) {
		return false, nil
	}
	on := s.replicas.take(ctx)
	if on == nil {
		s.replicas.set.primary.Add(1)
		return false, nil
	}
	on.f.busy.Add(1)
	defer on.f.busy.Add(-1)
	t := &tx{s: s, kind: viewing, moment: moment, replica: on}
	if !moment {
		t.conn = on
	}
	t.aside.Begin(&t.trial)
	err = s.runAlone(ctx, t, fn)
	if on.spoilt {
		on.f.again.Add(1)
		s.replicas.set.primary.Add(1)
		return false, nil
	}
	on.f.reads.Add(1)
	if !errors.Is(err, document.ErrReadOnly) { // it will be run with a writer
		t.aside.End()
	}
	return true, err
}

// take finds a replica to read from; nil: there is none.
func (p *replicaPools) take(ctx context.Context) *replicaRead {
	f := p.set.pick(ctx)
	if f == nil {
		return nil
	}
	alive, pooled := f.life()
	if alive == nil {
		return nil
	}
	b, err := p.backend(f, pooled)
	if err != nil {
		return nil // the URL was read before
	}
	return &replicaRead{f: f, b: b, alive: alive}
}

// replicaRead is what one run of a function reads from a replica. Its statements end
// when the replica is lost.
type replicaRead struct {
	f      *follower
	b      *postgresBackend
	alive  context.Context
	spoilt bool // the replica failed at something: whatever came of it does not count
}

func (r *replicaRead) until(ctx context.Context) (joined context.Context, end func()) {
	joined, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.alive, cancel)
	return joined, func() { stop(); cancel() }
}

// note remembers that the replica failed. A statement that takes too long would do so
// elsewhere, too; one that a caller does not wait for has not failed.
func (r *replicaRead) note(ctx context.Context, err error) error {
	var answer *pgconn.PgError
	if err != nil && ctx.Err() == nil && !(errors.As(err, &answer) && answer.Code == "57014") {
		r.spoilt = true
	}
	return err
}

func (r *replicaRead) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	return r.queryOn(ctx, r.b, st, args, fn)
}

func (r *replicaRead) queryOn(ctx context.Context, c conn, st *statement, args []any, fn rowFunc) error {
	joined, end := r.until(ctx)
	defer end()
	var mine error // what fn says is not the replica's failure
	err := c.query(joined, st, args, func(values []any) error {
		mine = fn(values)
		return mine
	})
	if mine != nil {
		return err
	}
	return r.note(ctx, err)
}

func (r *replicaRead) exec(context.Context, *statement, []any) (int64, error) {
	return 0, errSnapshot
}

// begin starts a transaction that sees one moment.
func (r *replicaRead) begin(ctx context.Context) (transaction, error) {
	joined, end := r.until(ctx)
	defer end()
	t, err := r.b.begin(joined, terms{reads: true})
	if err != nil {
		return nil, r.note(ctx, err)
	}
	return &replicaView{t.(*postgresTx), r}, nil
}

// replicaView is a transaction on a replica.
type replicaView struct {
	*postgresTx
	r *replicaRead
}

func (v *replicaView) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	return v.r.queryOn(ctx, v.postgresTx, st, args, fn)
}

// commit ends what only read: how that went says nothing of what was read.
func (v *replicaView) commit(ctx context.Context) error {
	joined, end := v.r.until(ctx)
	defer end()
	_, err := v.native.Exec(joined, "COMMIT")
	if err != nil && v.native.PgConn().TxStatus() != 'I' {
		v.rollback()
		return nil
	}
	v.end()
	return nil
}
