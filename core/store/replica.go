package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Replicas are the servers that follow the primary of a database, from which many
// Stores read together. A read waits for one that has replayed everything that was
// acknowledged before the read began, to whomever and by whichever process: before it
// begins the primary is asked how far its log is on disk, once for all who ask at a
// time, and a replica how far it has replayed. So nothing is noted when something is
// written, and no caller has to bring anything along. Whatever a replica fails at is
// read again on the primary.
type Replicas struct {
	index     readIndex
	followers []*follower
	log       *slog.Logger

	stop context.CancelFunc
	work sync.WaitGroup

	primary atomic.Int64  // reads that found no replica
	turn    atomic.Uint32 // whose it is among those with the same load

	mu     sync.Mutex
	news   chan struct{} // closed, and made anew, when a follower has told how far it is
	latest sample        // of the primary
}

// ReplicaOptions are the settings of Replicas.
type ReplicaOptions struct {
	// Conns bounds the connections to each replica that all Stores have open together;
	// 0: nothing does.
	Conns int
	// Logger receives when a replica is left out and when it is used again.
	Logger *slog.Logger
}

const (
	// replicaPoll is how often everybody is asked how far they are, beside those who wait.
	replicaPoll = 100 * time.Millisecond
	// replicaPause is the least between two questions to one replica.
	replicaPause = 300 * time.Microsecond
	// replicaTimeout is how long a server may take to answer that until it is lost.
	replicaTimeout = 400 * time.Millisecond
	// replicaPatience is how long a read waits for a replica to come up with the primary.
	replicaPatience = 10 * time.Millisecond
	// replicaLag is how old what a replica has may be until nobody waits for it.
	replicaLag = 500 * time.Millisecond
)

// position is a place in the log of a primary.
type position struct {
	timeline int64 // counted up when a standby is promoted
	lsn      int64
}

// sample is a position that was asked for at a time.
type sample struct {
	position
	at time.Time
}

// OpenReplicas follows the replicas of a primary, all of which are named by URLs. They
// need not be there; who is not is left out until it is.
func OpenReplicas(ctx context.Context, primary string, urls []string, o ReplicaOptions) (*Replicas, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := CheckReplicas(primary, urls); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Replicas{log: o.Logger, stop: stop, news: make(chan struct{})}
	if err := r.open(ctx, primary, urls, o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.work.Go(func() { r.watchPrimary(ctx) })
	for _, f := range r.followers {
		r.work.Go(func() { r.watch(ctx, f) })
	}
	return r, nil
}

func (r *Replicas) open(ctx context.Context, primary string, urls []string, o ReplicaOptions) error {
	server, err := parsePostgres(primary, defaultSchema)
	if err != nil {
		return err
	}
	r.index = readIndex{life: ctx, db: server.probe()}
	all, err := parseReplicas(urls)
	if err != nil {
		return err
	}
	for i, server := range all {
		f := &follower{name: server.address(), dsn: urls[i], db: server.probe(), wake: make(chan struct{}, 1)}
		if o.Conns > 0 {
			f.budget = NewBudget(o.Conns)
		}
		r.followers = append(r.followers, f)
	}
	return nil
}

// CheckReplicas returns the error with which OpenReplicas would refuse the URLs.
func CheckReplicas(primary string, urls []string) error {
	if !isPostgres(primary) {
		return errors.New("replicas are of a PostgreSQL database, which --database names")
	}
	_, err := parseReplicas(urls)
	return err
}

// parseReplicas reads URLs, each of which names another server.
func parseReplicas(urls []string) ([]*postgresServer, error) {
	names := map[string]bool{}
	var all []*postgresServer
	for _, url := range urls {
		if !isPostgres(url) {
			return nil, errors.New("a replica is a URL that begins with postgres://")
		}
		server, err := parsePostgres(url, defaultSchema)
		if err != nil {
			return nil, err
		}
		name := server.address()
		if names[name] {
			return nil, fmt.Errorf("the replica %s is given twice", name)
		}
		names[name] = true
		all = append(all, server)
	}
	return all, nil
}

// address is the first host and port of a server.
func (s *postgresServer) address() string {
	return net.JoinHostPort(s.config.Host, strconv.Itoa(int(s.config.Port)))
}

// Close ends following. The Stores that read from the replicas are closed before.
func (r *Replicas) Close() error {
	r.stop()
	r.work.Wait()
	r.index.wait()
	var failed error
	if r.index.db != nil {
		failed = r.index.db.Close()
	}
	for _, f := range r.followers {
		failed = errors.Join(failed, f.db.Close())
	}
	return failed
}

// watchPrimary asks the primary where it is, so that it is known how far each replica
// is behind when nobody reads.
func (r *Replicas) watchPrimary(ctx context.Context) {
	tick := time.NewTicker(replicaPoll)
	defer tick.Stop()
	for {
		asked := time.Now()
		if at, err := r.index.ask(ctx); err == nil {
			r.mu.Lock()
			r.latest = sample{at, asked}
			r.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Replicas) primaryAt() sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// tell wakes who waits for a replica.
func (r *Replicas) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.news)
	r.news = make(chan struct{})
}

func (r *Replicas) heard() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.news
}

// pick returns a replica that has everything that was acknowledged before; nil: there is
// none in time.
func (r *Replicas) pick(ctx context.Context) *follower {
	if !r.hopeful() {
		return nil
	}
	at, err := r.index.ask(ctx)
	if err != nil {
		return nil
	}
	if f := r.upTo(at); f != nil {
		return f
	}
	patience := time.NewTimer(replicaPatience)
	defer patience.Stop()
	for {
		news := r.heard()
		if f := r.upTo(at); f != nil {
			return f
		}
		if !r.nudge() {
			return nil
		}
		select {
		case <-news:
		case <-patience.C:
			for _, f := range r.followers {
				f.tired()
			}
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// hopeful reports whether there is a replica at all that may come up with the primary
// while one waits: where all are lost or lag, the primary is not asked either.
func (r *Replicas) hopeful() bool {
	for _, f := range r.followers {
		if f.near() {
			return true
		}
	}
	return false
}

// upTo returns the least busy of the replicas that have replayed everything up to a
// position.
func (r *Replicas) upTo(at position) (best *follower) {
	n := len(r.followers)
	first := int(r.turn.Add(1)) % n
	for i := range n {
		f := r.followers[(first+i)%n]
		if f.has(at) && (best == nil || f.busy.Load() < best.busy.Load()) {
			best = f
		}
	}
	return best
}

// nudge asks those replicas how far they are for which it is worth waiting, and reports
// whether there are any.
func (r *Replicas) nudge() (found bool) {
	for _, f := range r.followers {
		if !f.near() {
			continue
		}
		found = true
		select {
		case f.wake <- struct{}{}:
		default: // it is asked already
		}
	}
	return found
}

// ReplicaStats is what is known of a replica.
type ReplicaStats struct {
	Server string        // host and port
	Used   bool          // false: it is left out, being lost or too far behind
	Bytes  int64         // of the primary's log that it has not replayed; -1: not known
	Age    time.Duration // how old what it has is at most
	Reads  int64         // that it has answered
	Again  int64         // that it failed at, and the primary has answered
}

// Stats is what is known of the replicas, in the order in which they were given, and how
// many reads that might have gone to one went to the primary.
func (r *Replicas) Stats() (replicas []ReplicaStats, primary int64) {
	at := r.primaryAt()
	for _, f := range r.followers {
		s := ReplicaStats{Server: f.name, Used: f.state.Load() == inUse, Reads: f.reads.Load(), Again: f.again.Load()}
		f.mu.Lock()
		s.Bytes = f.behind(at.position)
		if s.Age = time.Since(f.asOf); f.asOf.IsZero() || f.alive == nil {
			s.Bytes, s.Age = -1, -1
		}
		f.mu.Unlock()
		replicas = append(replicas, s)
	}
	return replicas, r.primary.Load()
}
