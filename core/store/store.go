package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"armature/core/document"
)

// Options are the settings of one Store. The zero value is right for a server.
type Options struct {
	// Logger receives slow statements and what goes wrong in the background.
	Logger *slog.Logger
	// Slow tells how long a statement may take before it is logged; 0: it never
	// is. It is asked before every statement, so that a server can change it while
	// it runs. nil: none is logged.
	Slow func() time.Duration
	// MaxConns bounds the connections of a pool; 0: 4 or the number of cores,
	// whichever is more, for what reads, and 16 for the PostgreSQL pool that
	// writes, whose connections mostly wait for the disk. SQLite has one pool and
	// the writer, PostgreSQL three pools.
	MaxConns int
	// Budget bounds the PostgreSQL connections of several stores together; nil:
	// nothing does.
	Budget *Budget
	// Bell tells other processes of changes that somebody follows, and is told of theirs;
	// nil: they look. PostgreSQL only.
	Bell *Bell
	// Replicas are read from where a context allows it (document.WithReplica); nil: there
	// are none. PostgreSQL only.
	Replicas *Replicas
	// WriteWait is how long a write waits for its turn before it fails as
	// Unavailable; 0: 10 s.
	WriteWait time.Duration
	// LockWait is how long a change of a table waits for others to leave the
	// table before it fails as Unavailable; 0: 30 s.
	LockWait time.Duration
	// RetryFor is how long a transaction that loses races is run again before it
	// fails as Unavailable; 0: 15 s.
	RetryFor time.Duration
	// Durability of an acknowledged write to SQLite. PostgreSQL has its own
	// setting, synchronous_commit.
	Durability Durability
}

// Durability says what an acknowledged write survives.
type Durability uint8

const (
	// Full writes survive power loss.
	Full Durability = iota
	// Crash writes survive the end of the process, but the last ones may be lost
	// with the power. The database stays intact either way.
	Crash
)

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxConns <= 0 {
		o.MaxConns = max(4, cores())
	}
	if o.Slow == nil {
		o.Slow = func() time.Duration { return 0 }
	}
	if o.WriteWait <= 0 {
		o.WriteWait = 10 * time.Second
	}
	if o.RetryFor <= 0 {
		o.RetryFor = 15 * time.Second
	}
	if o.LockWait <= 0 {
		o.LockWait = 30 * time.Second
	}
	return o
}

// Store is one site's database. It satisfies document.Store.
type Store struct {
	engine  engine
	bun     *bun.DB // builds statements; the backend's pools run them
	backend backend
	types   *types
	own     ownStatements
	gate    gate

	log      *slog.Logger
	slow     func() time.Duration
	lockWait time.Duration
	retryFor time.Duration

	contention *contention
	followed   followed
	rope       *rope         // nil: nobody is told
	schema     string        // by which others are told
	replicas   *replicaPools // nil: none
	fullAt     atomic.Int64  // when a write last found the disk full, in nanoseconds of the epoch
}

var _ document.Store = (*Store)(nil)

// Open opens the database that a URL or a path names: "postgres://" and
// "postgresql://" are PostgreSQL, whose schema is then given by schema;
// anything else is the path of an SQLite file.
func Open(ctx context.Context, url, schema string, o Options) (*Store, error) {
	if isPostgres(url) {
		return OpenPostgres(ctx, url, schema, o)
	}
	return OpenSQLite(ctx, url, o)
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// newStore completes a Store: it makes the store's own tables where they are
// missing. On failure the backend is closed.
func newStore(ctx context.Context, e engine, db *bun.DB, b backend, o Options) (*Store, error) {
	s := &Store{engine: e, bun: db, backend: b, types: newTypes(), log: o.Logger, slow: o.Slow, lockWait: o.LockWait, retryFor: o.RetryFor, contention: newContention()}
	s.own = s.newOwnStatements()
	if err := s.createOwnTables(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if _, err := s.Versions(ctx); err != nil { // whether somebody follows what is changed
		return nil, errors.Join(err, b.close())
	}
	return s, nil
}

// Read implements document.Store.
func (s *Store) Read(ctx context.Context, fn func(document.Tx) error) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	if done, err := s.readReplica(ctx, false, fn); done {
		return err
	}
	t := &tx{s: s, kind: viewing, conn: s.backend.reader()}
	t.aside.Begin(&t.trial)
	err := fn(t)
	t.aside.End()
	return err
}

// View implements document.Store. A transaction that only read is committed, too:
// what it has told is true only then.
func (s *Store) View(ctx context.Context, history *document.ViewHistory, fn func(document.Tx) error) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	if done, err := s.readReplica(ctx, true, fn); done {
		return err
	}
	var trial document.Trial
	var t *tx
	err := s.retry(ctx, time.Now().Add(s.retryFor), &trial, func() (class, error) {
		t = &tx{s: s, kind: viewing, moment: true, glance: history.Once() && t == nil}
		t.aside.Begin(&trial)
		err := s.runAlone(ctx, t, fn)
		history.Asked(t.asked)
		return t.why, err
	})
	if !errors.Is(err, document.ErrReadOnly) { // it will be run with a writer
		t.aside.End()
	}
	return err
}

// Pause implements document.Tx.
func (t *tx) Pause(ctx context.Context) error {
	t.glance = false // it cannot be run again
	if t.moment && t.own == nil {
		t.conn = nil
	}
	if !t.moment || t.own == nil {
		return nil
	}
	own := t.own
	t.own, t.conn = nil, nil
	return t.fail(own.commit(ctx), nil, "")
}

// Versions implements document.Store.
func (s *Store) Versions(ctx context.Context) (v document.Versions, err error) {
	if err := s.gate.enter(); err != nil {
		return v, err
	}
	defer s.gate.leave()
	asked := time.Now()
	err = s.query(ctx, s.backend.reader(), s.own.versions, nil, func(row []any) error {
		v.Schema, _ = row[0].(int64)
		v.Epoch, _ = row[1].(int64)
		s.followed.note(row[2], asked)
		return nil
	})
	return v, s.explain(err, nil, "")
}

// Ping implements document.Store.
func (s *Store) Ping(ctx context.Context) error {
	return s.explain(s.backend.ping(ctx), nil, "")
}

// Close implements document.Store. Calls that come later fail as Unavailable.
func (s *Store) Close() error {
	if !s.gate.close() {
		return nil
	}
	return errors.Join(s.replicas.close(), s.backend.close())
}
