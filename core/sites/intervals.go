package sites

import (
	"context"
	"time"
)

// pollEvery is how often the set looks for what other processes have changed.
const pollEvery = time.Second

// tendEvery is how often a site has its housekeeping done.
const tendEvery = 24 * time.Hour

// brokenOff is how old a site is that was not made, or erased, to its end and that
// nobody can be at work on any more.
const brokenOff = 24 * time.Hour

// settle waits until every server has let go of a site that is gone.
func settle(ctx context.Context) error {
	select {
	case <-time.After(2 * pollEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
