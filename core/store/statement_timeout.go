package store

import (
	"context"
	"errors"
	"time"

	"armature/core/fault"
)

// statementTime is how long a statement of a client may take.
const statementTime = 30 * time.Second

// watched runs a statement of SQLite, which has no time limit of its own: one
// that may take long is interrupted when nobody waits for it or its limit is
// over; 0: there is none. The others cannot be.
func (st *statement) watched(ctx context.Context, limit time.Duration, run func(context.Context) error) error {
	if !st.cancellable() {
		return run(context.WithoutCancel(ctx))
	}
	if limit == 0 {
		return run(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := run(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, "", err, "The database took too long")
	}
	return err
}
