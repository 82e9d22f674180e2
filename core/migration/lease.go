package migration

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"armature/core/document"
	"armature/core/fault"
)

// errLost says that another process took the lease over: this one stood still for
// longer than anybody waits. Nothing of the step it was in is kept.
var errLost = errors.New("another process has taken over the migration of the site")

// lease lets one process at a time migrate a site. It is a row: its holder, and a
// number that grows with each of the holder's transactions. Clocks of machines are
// never compared: who waits takes over a lease whose number did not move for as
// long as Stale by its own clock.
type lease struct {
	store  document.Store
	holder string
	beat   int64
	stale  time.Duration
}

// stillEvery is how often who waits looks again.
const stillEvery = 100 * time.Millisecond

// take waits until this process has the lease.
func (l *lease) take(ctx context.Context) error {
	l.holder = rand.Text()
	var seen string
	var since time.Time
	var beat int64
	tick := time.NewTicker(stillEvery)
	defer tick.Stop()
	for {
		holder, now, err := l.look(ctx)
		if err != nil {
			return err
		}
		if holder != seen || now != beat || since.IsZero() {
			seen, beat, since = holder, now, time.Now()
		}
		if holder == "" || time.Since(since) >= l.stale {
			if ok, err := l.swap(ctx, now); err != nil || ok {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(fault.Unavailable, "", ctx.Err(), "The site is being brought to a newer format")
		case <-tick.C:
		}
	}
}

// look reads who has the lease.
func (l *lease) look(ctx context.Context) (holder string, beat int64, err error) {
	err = l.store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, schema(), tables().state, stateName, false)
		if err == nil {
			holder, beat = doc.Text("holder"), doc.Int("beat")
		}
		return err
	})
	return holder, beat, err
}

// swap takes the lease from who had it at a beat.
func (l *lease) swap(ctx context.Context, beat int64) (ok bool, err error) {
	err = l.store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		ok, err = tx.UpdateIf(ctx, tables().state, stateName, map[string]any{"beat": beat},
			map[string]any{"holder": l.holder, "beat": beat + 1})
		return err
	})
	if ok && err == nil {
		l.beat = beat + 1
	}
	return ok && err == nil, err
}

// write runs fn in a transaction that is kept only if the lease is still held. The
// row of the lease is written first, so that nobody takes it over meanwhile.
func (l *lease) write(ctx context.Context, fn func(document.Tx) error) error {
	next := l.beat + 1
	err := l.store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		ok, err := tx.UpdateIf(ctx, tables().state, stateName, map[string]any{"holder": l.holder, "beat": l.beat},
			map[string]any{"beat": next})
		if err != nil {
			return err
		}
		if !ok {
			return fault.Wrap(fault.Unavailable, "", errLost, "The site is being brought to a newer format")
		}
		return fn(tx)
	})
	if err == nil {
		l.beat = next
	}
	return err
}

// give ends the lease. A failure costs who comes next the wait for a stale lease.
func (l *lease) give(ctx context.Context) error {
	return l.write(ctx, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, tables().state, stateName, nil, map[string]any{"holder": ""})
		return err
	})
}
