package store

import (
	"context"
	"database/sql"
	"sync"

	"github.com/jackc/pgx/v5"
)

// readIndex asks the primary how far its log is on disk: everything that anybody was told
// to be committed is before it. Those who ask while an answer is on its way, which may
// be older than their question, share the next one.
type readIndex struct {
	life context.Context
	db   *sql.DB
	turn sync.Mutex // one question is on its way
	work sync.WaitGroup

	mu   sync.Mutex
	next *answer // nil: nobody waits for one that has not been asked yet
}

// answer is where the primary is, once done is closed.
type answer struct {
	done chan struct{}
	at   position
	err  error
}

// askPrimary: a commit is acknowledged once it is on disk, unless synchronous_commit is
// off: then what is written counts. pg_walfile_name begins with the timeline.
const askPrimary = `SELECT ('x' || left(pg_walfile_name(at), 8))::bit(32)::bigint, pg_wal_lsn_diff(at, '0/0')::bigint
	FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END AS at) AS now`

// ask returns a position that the primary has reached after ask was called.
func (x *readIndex) ask(ctx context.Context) (position, error) {
	x.mu.Lock()
	a := x.next
	if a == nil {
		a = &answer{done: make(chan struct{})}
		x.next = a
		x.work.Go(func() { x.answer(a) })
	}
	x.mu.Unlock()
	select {
	case <-a.done:
		return a.at, a.err
	case <-ctx.Done():
		return position{}, ctx.Err()
	}
}

func (x *readIndex) answer(a *answer) {
	defer close(a.done)
	x.turn.Lock()
	defer x.turn.Unlock()
	x.mu.Lock()
	x.next = nil // who comes now waits for another one
	x.mu.Unlock()
	ctx, cancel := context.WithTimeout(x.life, replicaTimeout)
	defer cancel()
	a.err = x.db.QueryRowContext(ctx, askPrimary, pgx.QueryExecModeSimpleProtocol).Scan(&a.at.timeline, &a.at.lsn)
}

// wait returns when no question is on its way. Nobody asks any more.
func (x *readIndex) wait() { x.work.Wait() }

// probe is a pool of one connection that is set to nothing, behind a pooler or not.
func (s *postgresServer) probe() *sql.DB {
	s = s.with(nil)
	perTransaction(s.config)
	return s.pool(1, Options{})
}
