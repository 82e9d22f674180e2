package sites

import (
	"context"
	"time"
)

// sweepEvery is how often what is past its time is cleared away.
const sweepEvery = time.Hour

// startSweep clears away, in the background, what is past its time in the site's
// authentication, from the opening of the site to its closing.
func (t *Tenant) startSweep() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
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
		}
	}()
	t.stopAuthSweep = func() { stop(); <-done }
}
