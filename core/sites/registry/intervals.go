package registry

import (
	"context"
	"time"
)

// PollEvery is how often servers look for what other processes have changed.
const PollEvery = time.Second

// MaintainEvery is how often a site has its housekeeping done.
const MaintainEvery = 24 * time.Hour

// Settle waits until every server has let go of a site that is gone.
func Settle(ctx context.Context) error {
	select {
	case <-time.After(2 * PollEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
