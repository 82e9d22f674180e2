package store

import (
	"context"
	"sync"
	"time"

	"armature/core/fair"
	"armature/core/fault"
)

// gate counts what is running, so that Close can wait for it.
type gate struct {
	mu      sync.Mutex
	running int
	closed  bool
	empty   chan struct{}
}

func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fault.New(fault.Unavailable, "", "The database is closed")
	}
	g.running++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.closed && g.running == 0 {
		close(g.empty)
	}
}

// close lets nobody in any more, waits until the last has left, and reports
// whether it was the first call.
func (g *gate) close() bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return false
	}
	g.closed = true
	g.empty = make(chan struct{})
	if g.running == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	<-g.empty
	return true
}

// takePlace waits for one of a number of places, which a channel has room for.
func takePlace(ctx context.Context, places chan struct{}, wait time.Duration) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	defer fair.Pause(ctx).Resume(ctx)
	patience := time.NewTimer(wait)
	defer patience.Stop()
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy()
	}
}
