package sites

import (
	"context"
	"time"
)

// pollEvery is how often the set looks for what other processes have changed.
const pollEvery = time.Second

// maintainEvery is how often a site has its housekeeping done.
const maintainEvery = 24 * time.Hour

// settle waits until every server has let go of a site that is gone.
func settle(ctx context.Context) error {
	select {
	case <-time.After(2 * pollEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
