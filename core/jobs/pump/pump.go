package pump

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/core/jobs"
	"armature/core/metrics"
	"armature/core/store"
)

// Config is what a Pump needs.
type Config struct {
	// Database is the path of its file, or the URL of a PostgreSQL database, where it has
	// Schema.
	Database, Schema string

	// Borrow opens a site for a while, and returns its jobs; fs.ErrNotExist where there is
	// none of the name.
	Borrow func(ctx context.Context, site string) (q *jobs.Queue, release func(), err error)
	// Charged is the context in which a job runs; nil: as it is.
	Charged func(ctx context.Context, site string) (context.Context, func())

	Workers int              // jobs that run at a time; 0: DefaultWorkers
	Still   time.Duration    // after which a process that stands still is dead; 0: 8 s
	Now     func() time.Time // nil: time.Now
	Logger  *slog.Logger
}

// DefaultWorkers is how many jobs of all sites run at a time. A job that computes waits
// for its turn of the processors as requests do; more run while some wait for others.
const DefaultWorkers = 32

// Pump runs the jobs of all sites of a process. It satisfies jobs.Pump before it is
// started, too: then another process runs what it marks.
type Pump struct {
	c     Config
	admit int // jobs of one site at a time

	mu      sync.Mutex // of opening
	store   *store.Store
	marks   *marks
	pool    *store.QueuePool
	queue   queue
	servers *servers

	desk  desk
	stop  context.CancelFunc
	work  sync.WaitGroup
	count counts
}

// counts are what a pump has done since it was started.
type counts struct {
	running                          atomic.Int64
	succeeded, stepped, failed, died atomic.Int64
}

// Counts is what a pump does and has done.
func (p *Pump) Counts() metrics.JobCounts {
	lag, waiting := p.desk.load(p.c.Now())
	return metrics.JobCounts{
		Running: p.count.running.Load(), Waiting: waiting, Lag: max(lag, 0), Succeeded: p.count.succeeded.Load(),
		Stepped: p.count.stepped.Load(), Failed: p.count.failed.Load(), Died: p.count.died.Load(),
	}
}

// New makes a pump that has opened nothing yet.
func New(c Config) *Pump {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Workers <= 0 {
		c.Workers = DefaultWorkers
	}
	if c.Still <= 0 {
		c.Still = stillAfter
	}
	p := &Pump{c: c, admit: max(1, c.Workers/4), stop: func() {}}
	p.desk.init()
	return p
}

// open opens the marks, at the first call that needs them.
func (p *Pump) open(ctx context.Context) (*marks, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.marks != nil {
		return p.marks, nil
	}
	db, err := store.Open(ctx, p.c.Database, p.c.Schema, store.Options{Logger: p.c.Logger, MaxConns: 1})
	if err != nil {
		return nil, fmt.Errorf("open the queue of jobs: %w", err)
	}
	err = db.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		return errors.Join(tx.Migrate(ctx, own().mark), tx.Migrate(ctx, own().server))
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the queue of jobs: %w", err), db.Close())
	}
	p.store, p.marks = db, &marks{store: db, now: p.c.Now, known: map[string]time.Time{}}
	return p.marks, nil
}

// Mark implements jobs.Pump.
func (p *Pump) Mark(ctx context.Context, site string) error {
	m, err := p.open(ctx)
	if err != nil {
		return err
	}
	return m.touch(ctx, site)
}

// Wake implements jobs.Pump.
func (p *Pump) Wake(site string) { p.desk.ask(site, nil) }

// lookers is how many sites are looked at at a time: one whose database is slow keeps
// the others from nothing.
const lookers = 4

// Start runs jobs until Close, which is due where it fails, too. It is called once.
func (p *Pump) Start(ctx context.Context) error {
	m, err := p.open(ctx)
	if err != nil {
		return err
	}
	if p.pool, err = store.OpenQueuePool(ctx, p.c.Database); err != nil {
		return err
	}
	id := strings.ToLower(rand.Text())
	o := riverOptions{id: id, schema: p.c.Schema, workers: p.c.Workers, log: p.c.Logger, work: p.run}
	var q queue
	// Processes that start together would make river's tables side by side, and fail.
	err = p.pool.Alone(ctx, p.c.Schema, own().server.Table, func(ctx context.Context) (err error) {
		q, err = openQueue(ctx, p.pool, o)
		return err
	})
	if err != nil {
		return err
	}
	entered := &servers{store: p.store, pool: p.pool, schema: p.c.Schema, id: id, still: p.c.Still, seen: map[string]sighting{}}
	if err := entered.enter(ctx); err != nil {
		return fmt.Errorf("enter the servers that run jobs: %w", err)
	}
	p.queue, p.servers = q, entered
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = stop
	if err := p.queue.start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the queue of jobs: %w", err)
	}
	p.desk.open()
	for range lookers {
		p.work.Go(func() { p.lookAtSites(run) })
	}
	p.work.Go(func() { p.poll(run, m) })
	p.work.Go(func() { p.beat(run) })
	return nil
}

// pollEvery is how often it is asked which sites are due.
const pollEvery = time.Second

// poll finds the sites that are due until ctx ends.
func (p *Pump) poll(ctx context.Context, m *marks) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	failing := false
	for first := true; ; {
		list, err := m.due(ctx, first)
		switch {
		case err == nil:
			first = false
			for _, one := range list {
				p.desk.ask(one.site, &one)
			}
		case ctx.Err() == nil && !failing:
			p.c.Logger.Error("see which sites have jobs", "error", err)
		}
		failing = err != nil
		p.desk.askDue(p.c.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *Pump) beat(ctx context.Context) {
	tick := time.NewTicker(min(beatEvery, p.c.Still/4))
	defer tick.Stop()
	failing := false
	for {
		err := p.servers.round(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			p.c.Logger.Error("tell the other servers that run jobs of this one", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// run runs a ticket.
func (p *Pump) run(ctx context.Context, t ticket) error {
	p.count.running.Add(1)
	defer p.count.running.Add(-1)
	if p.c.Charged != nil {
		charged, done := p.c.Charged(ctx, t.Site)
		defer done()
		ctx = charged
	}
	q, release, err := p.c.Borrow(ctx, t.Site)
	if missing(err) {
		p.desk.landed(t.Site, t.Job)
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	outcome, err := q.Run(ctx, jobs.Ticket{Job: t.Job, Turn: t.Turn})
	switch outcome {
	case jobs.Succeeded:
		p.count.succeeded.Add(1)
	case jobs.Stepped:
		p.count.stepped.Add(1)
	case jobs.Failed:
		p.count.failed.Add(1)
	case jobs.Died:
		p.count.died.Add(1)
	case jobs.Stale:
	}
	if err == nil {
		p.desk.landed(t.Site, t.Job)
	}
	return err
}

// closeTimeout is how long the end of what runs is waited for after its context has
// ended.
const closeTimeout = softStop + time.Second

// Close ends everything: what runs may end within 3 s, and is then broken off, which
// counts as no attempt. A second call does nothing.
func (p *Pump) Close() error {
	p.stop()
	p.desk.close()
	p.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var err error
	if p.queue != nil {
		err = p.queue.stop(ctx)
	}
	if p.servers != nil {
		err = errors.Join(err, p.servers.leave(ctx))
	}
	p.desk.releaseAll()
	if p.pool != nil {
		err = errors.Join(err, p.pool.Close())
	}
	p.queue, p.servers, p.pool = nil, nil, nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store != nil {
		err = errors.Join(err, p.store.Close())
		p.store, p.marks = nil, nil
	}
	return err
}
