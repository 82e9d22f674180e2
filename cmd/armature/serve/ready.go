package serve

import (
	"context"
	"sync"
	"time"
)

const (
	readyFor     = 500 * time.Millisecond // how long an answer holds
	readyTimeout = 3 * time.Second        // what answers later is not ready
)

// readiness answers /readyz. Everybody may ask, as often as they like, and what
// they ask costs a round trip to every database: so one checks at a time, and
// the answer holds for those who ask soon after.
type readiness struct {
	check func(ctx context.Context) error

	mu  sync.Mutex
	at  time.Time
	err error
}

func (r *readiness) now(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) >= readyFor {
		// Who asked may leave; the answer is for the others too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		r.err = r.check(ctx)
		r.at = time.Now()
	}
	return r.err
}
