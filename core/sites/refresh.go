package sites

import (
	"context"
	"time"
)

// refreshTimeout is how long it may take to look at a site: one whose database does
// not answer must not keep the others from being looked at.
const refreshTimeout = 5 * time.Second

// refresh takes over what other processes have changed, on behalf of everybody
// until after the round. A site that this binary may not use any more is closed:
// the next request is told why.
func (e *entry) refresh(ctx context.Context, t *tenancy, round int64) {
	if !t.Refresh(ctx) {
		e.close()
	}
	t.checked.Store(round)
}

// catchUp takes over what other processes have changed since the last request on
// a site that has had none for a while: nobody looks at such a site. Where that
// takes too long the request goes on with what is known.
func (e *entry) catchUp(ctx context.Context, t *tenancy) {
	if t.checking.Acquire(ctx, 1) != nil {
		return // the client has left
	}
	defer t.checking.Release(1)
	round := t.rounds.Load()
	if t.checked.Load() >= round {
		return // somebody else has done it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout) // others wait for it
	defer cancel()
	t.RefreshPlugins(ctx)
	e.refresh(ctx, t, round)
}
