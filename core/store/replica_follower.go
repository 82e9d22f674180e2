package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// follower is one replica.
type follower struct {
	name   string // host and port
	dsn    string
	db     *sql.DB // asks how far it is
	budget *Budget // nil: none

	busy         atomic.Int64 // reads that it has now
	reads, again atomic.Int64 // reads that it has answered, and those that went to the primary after all

	wake  chan struct{} // somebody waits for it
	state atomic.Int32  // as it was logged last

	mu       sync.Mutex
	alive    context.Context // ends when it is lost; nil: it is
	lose     context.CancelFunc
	pooled   bool // a pooler stands before it
	timeline [2]int64
	replayed int64
	asOf     time.Time // what it has is what the primary had then, or later
	pending  sample    // of the primary, by which the next asOf is found
	vain     time.Time // until then nobody waits for it
}

// What is known of a replica.
const (
	unknown int32 = iota
	inUse
	leftOut
)

var (
	errNotFollowing = errors.New("it follows no other server")
	errOtherPrimary = errors.New("it follows another primary, or one of before a failover")
	errNoPrimary    = errors.New("the primary does not say where it is")
)

// The timeline that a replica follows is that of the checkpoint that it replayed last,
// and that of what it receives where it is allowed to tell: one that follows a primary
// of before a failover may be ahead of the new one and lack what that has.
const (
	askReplica = `SELECT pg_is_in_recovery(), coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint, pg_backend_pid()::bigint`
	askWhole   = askReplica + `, (SELECT timeline_id FROM pg_control_checkpoint())::bigint, coalesce((SELECT received_tli FROM pg_stat_wal_receiver), 0)::bigint`
)

// watch keeps what is known of a replica up to date: at each tick, and while somebody
// waits for it.
func (r *Replicas) watch(ctx context.Context, f *follower) {
	defer f.lost()
	tick := time.NewTicker(replicaPoll)
	defer tick.Stop()
	for whole := true; ; {
		pause := time.After(replicaPause)
		err := f.ask(ctx, whole)
		if ctx.Err() != nil {
			return
		}
		r.note(f, err)
		select {
		case <-ctx.Done():
			return
		case <-pause: // between one question and the next
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			whole = true
		case <-f.wake:
			whole = err != nil
		}
	}
}

// note has who waits look at what a replica has said, and logs what has changed.
func (r *Replicas) note(f *follower, err error) {
	if err != nil {
		f.lost()
	} else {
		err = f.keepsUp(r.primaryAt())
	}
	r.tell()
	now := inUse
	if err != nil {
		now = leftOut
	}
	if f.state.Swap(now) == now {
		return
	}
	if err != nil {
		r.log.Warn("a replica is left out", "replica", f.name, "error", err)
	} else {
		r.log.Info("a replica is read from", "replica", f.name)
	}
}

// ask asks the replica how far it is; whole: and whom it follows.
func (f *follower) ask(ctx context.Context, whole bool) error {
	life := ctx
	ctx, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	on, err := f.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer on.Close() // gives it back, which cannot fail
	var follows bool
	var replayed, pid, checkpoint, received int64
	into, text := []any{&follows, &replayed, &pid}, askReplica
	if whole {
		into, text = append(into, &checkpoint, &received), askWhole
	}
	own := uint32(0)
	err = native(on, func(c *pgx.Conn) error {
		own = c.PgConn().PID()
		return c.QueryRow(ctx, text, pgx.QueryExecModeSimpleProtocol).Scan(into...)
	})
	if err == nil && !follows {
		err = errNotFollowing
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replayed, f.pooled = replayed, pid != int64(own)
	if whole {
		f.timeline = [2]int64{checkpoint, received}
	}
	if f.alive == nil {
		f.alive, f.lose = context.WithCancel(life)
	}
	return nil
}

// keepsUp works out how old what the replica has is. The error says why nobody waits
// for it.
func (f *follower) keepsUp(primary sample) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.behind(primary.position) == 0 && primary.at.After(f.asOf):
		f.asOf, f.pending = primary.at, primary
	case f.behind(f.pending.position) == 0:
		f.asOf, f.pending = f.pending.at, primary
	case f.pending.timeline != primary.timeline:
		f.pending = primary
	}
	switch behind := f.behind(primary.position); {
	case primary.timeline == 0 || time.Since(primary.at) > replicaLag:
		return errNoPrimary
	case behind < 0:
		return errOtherPrimary
	case time.Since(f.asOf) > replicaLag:
		return fmt.Errorf("it is %d bytes of log behind the primary", behind)
	}
	return nil
}

// behind is how many bytes of log a replica is behind a position; below 0: it follows
// another primary, or nothing is known of this one. f.mu is held.
func (f *follower) behind(at position) int64 {
	if at.timeline == 0 || f.timeline[0] != at.timeline && f.timeline[1] != at.timeline {
		return -1
	}
	return max(0, at.lsn-f.replayed)
}

// lost ends what is being read from the replica.
func (f *follower) lost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alive != nil {
		f.lose()
		f.alive, f.lose = nil, nil
	}
}

// has reports whether the replica has everything up to a position.
func (f *follower) has(at position) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive != nil && f.behind(at) == 0
}

// near reports whether it is worth waiting for the replica.
func (f *follower) near() bool {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive != nil && now.Sub(f.asOf) <= replicaLag && now.After(f.vain)
}

// tired has nobody wait for the replica for a while: somebody has in vain.
func (f *follower) tired() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vain = time.Now().Add(replicaPoll)
}

// life is a context that ends when the replica is lost; nil: it is. pooled says whether
// a pooler stands before it.
func (f *follower) life() (alive context.Context, pooled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive, f.pooled
}

// admits has a new connection fail to a replica that was started again and has not come
// as far as it was: what is known of it is from before.
func (f *follower) admits(ctx context.Context, c *pgx.Conn) error {
	f.mu.Lock()
	known := f.replayed
	f.mu.Unlock()
	var reached bool
	err := c.QueryRow(ctx, "SELECT coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0) >= $1", pgx.QueryExecModeExec, known).Scan(&reached)
	if err == nil && !reached {
		err = driver.ErrBadConn
	}
	return err
}
