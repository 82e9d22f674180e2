package tenant

import (
	"context"
	"time"
)

// sweepEvery is how often what is past its time is cleared away.
const sweepEvery = time.Hour

// sweep clears away what is past its time in the site's authentication, until ctx
// ends.
func (t *Tenant) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := t.Auth.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("clear away old sessions and activities", "error", err)
		}
		if err := t.Social.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("clear away old logins with accounts elsewhere", "error", err)
		}
		if err := t.confirmations.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("clear away old confirmations", "error", err)
		}
		if err := t.Jobs.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("clear away old jobs", "error", err)
		}
	}
}
