package pump

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"armature/core/store"
)

// ticket is what river keeps: one turn of a job of a site.
type ticket struct {
	Site string `json:"site"`
	Job  string `json:"job"`
	Turn int64  `json:"turn"`
}

// Kind implements river.JobArgs.
func (ticket) Kind() string { return "site-job" }

// queue is a client of river's.
type queue interface {
	start(ctx context.Context) error
	// stop lets tickets that run end, for a while, and then ends their contexts.
	stop(ctx context.Context) error
	insert(ctx context.Context, list []ticket) error
}

// What river is told. Attempts and when they are made are a job's, kept by its site: a
// ticket is tried again only where the server could not run it.
const (
	fetchCooldown = 5 * time.Millisecond
	fetchPoll     = time.Second // tickets that another process has handed over
	keepTickets   = time.Minute // that have run
	ticketTimeout = 30 * time.Minute
	softStop      = 3 * time.Second
	maxTries      = 1000
)

type riverOptions struct {
	id      string // of the process
	schema  string // of PostgreSQL
	workers int
	log     *slog.Logger
	work    func(ctx context.Context, t ticket) error
}

// openQueue makes the client of a process, with river's tables where they are missing
// or older.
func openQueue(ctx context.Context, pool *store.QueuePool, o riverOptions) (queue, error) {
	if pool.Postgres != nil {
		return newClient[pgx.Tx](ctx, polledPostgres{riverpgxv5.New(pool.Postgres)}, o)
	}
	o.schema = ""
	return newClient[*sql.Tx](ctx, polledSQLite{riversqlite.New(pool.SQLite)}, o)
}

// polledPostgres and polledSQLite know no notifications: the client that hands a ticket
// over fetches at once, others when they poll. LISTEN works behind no pooler, and takes
// a connection for itself.
type polledPostgres struct{ *riverpgxv5.Driver }

func (polledPostgres) SupportsListener() bool { return false }

type polledSQLite struct{ *riversqlite.Driver }

func (polledSQLite) SupportsListener() bool { return false }

type client[Tx any] struct{ *river.Client[Tx] }

func newClient[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], o riverOptions) (queue, error) {
	log := slog.New(louder{o.log.Handler()})
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log, Schema: o.schema})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("bring the queue of jobs up to date: %w", err)
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{work: o.work}); err != nil {
		return nil, err
	}
	c, err := river.NewClient(driver, &river.Config{
		ID: o.id, Schema: o.schema, Logger: log, PollOnly: true,
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.workers}},
		FetchCooldown: fetchCooldown, FetchPollInterval: fetchPoll,
		JobTimeout: ticketTimeout, RescueStuckJobsAfter: 2 * ticketTimeout, MaxAttempts: maxTries,
		CompletedJobRetentionPeriod: keepTickets, CancelledJobRetentionPeriod: keepTickets, DiscardedJobRetentionPeriod: keepTickets,
		ReindexerIndexNames: []string{}, SoftStopTimeout: softStop, Workers: workers,
	})
	if err != nil {
		return nil, err
	}
	return &client[Tx]{c}, nil
}

func (c *client[Tx]) start(ctx context.Context) error { return c.Start(ctx) }

func (c *client[Tx]) stop(ctx context.Context) error { return c.Stop(ctx) }

// waiting are the states in which there is one ticket of a turn alone.
var waiting = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

func (c *client[Tx]) insert(ctx context.Context, list []ticket) error {
	all := make([]river.InsertManyParams, len(list))
	for i, t := range list {
		all[i] = river.InsertManyParams{Args: t, InsertOpts: &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: waiting}}}
	}
	_, err := c.InsertMany(ctx, all)
	return err
}

// worker runs tickets.
type worker struct {
	river.WorkerDefaults[ticket]
	work func(ctx context.Context, t ticket) error
}

// snooze is how long a ticket waits that the server could not run.
const snooze = 2 * time.Second

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *river.Job[ticket]) error {
	err := w.work(ctx, job.Args)
	if err != nil && ctx.Err() == nil {
		return river.JobSnooze(snooze)
	}
	return err
}

// louder leaves out what river tells of its everyday.
type louder struct{ slog.Handler }

func (h louder) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h louder) WithAttrs(attrs []slog.Attr) slog.Handler { return louder{h.Handler.WithAttrs(attrs)} }
func (h louder) WithGroup(name string) slog.Handler       { return louder{h.Handler.WithGroup(name)} }
