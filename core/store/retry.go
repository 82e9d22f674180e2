package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"armature/core/document"
	"armature/core/fault"
)

// maxDraws is how often a name is drawn anew.
const maxDraws = 3

// retry runs attempt until it ends otherwise than by a lost race: until the
// deadline for serialization failures, deadlocks and locks waited for in vain,
// once more for a duplicate that may be one, some times for a drawn name, twice for a connection that broke
// before the commit, at once for a view that needs a transaction, for as long as Options.LockWait where a change of a table
// waits for its lock. Between attempts nothing is held. A commit whose outcome
// is unknown is never run again, nor is one whose trial is spent.
func (s *Store) retry(ctx context.Context, deadline time.Time, trial *document.Trial, attempt func() (class, error)) error {
	begun := time.Now()
	races, draws := 0, 0
	for n := 1; ; n++ {
		why, err := attempt()
		var unknown unknownOutcome
		if err == nil || errors.As(err, &unknown) || trial != nil && trial.Spent() {
			return err
		}
		var pause time.Duration
		switch {
		case why == another:
		case why == again && time.Now().Before(deadline):
			pause = jitter(time.Duration(min(n, 8)) * 2 * time.Millisecond)
		case why == raced && races == 0:
			races++
		case why == redrawn && draws < maxDraws:
			draws++
		case why == lost && n == 1:
			pause = jitter(10 * time.Millisecond)
		case why == lockBusy && time.Since(begun) < s.lockWait:
			pause = jitter(min(time.Duration(n)*20*time.Millisecond, time.Second))
		case why == lockBusy:
			return fault.Wrap(fault.Unavailable, "", err, "The table is in use; its change did not get through within %s. Nothing has changed; try again", s.lockWait)
		default:
			return err
		}
		if pause == 0 {
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// jitter keeps those who collided from colliding again.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}
