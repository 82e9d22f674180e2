package quota

import (
	"context"
	"sync"
	"time"
)

// How old a measurement may get while a site writes, and how often one is made for
// somebody who waits. Both grow with what measuring costs, of which it may take a
// hundredth of the time.
const (
	fresh   = 5 * time.Second
	again   = time.Second
	costing = 100
)

// gauge is an amount that is measured now and then, and counted in between as far
// as this process adds to it.
type gauge struct {
	measure func(context.Context) (int64, error)
	now     func() time.Time
	turn    chan struct{} // of who measures

	mu       sync.Mutex
	measured int64
	added    int64         // by what was committed since
	at       time.Time     // when it was measured; zero: never
	cost     time.Duration // of measuring it
}

func newGauge(now func() time.Time, measure func(context.Context) (int64, error)) *gauge {
	return &gauge{measure: measure, now: now, turn: make(chan struct{}, 1)}
}

// add counts what was committed.
func (g *gauge) add(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.added += n
}

// value is the amount as far as it is known.
func (g *gauge) value() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, g.measured+g.added)
}

// stale reports whether the amount is to be measured again: for somebody who waits,
// or by the way.
func (g *gauge) stale(waits bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	age := fresh
	if waits {
		age = again
	}
	return g.at.IsZero() || g.now().Sub(g.at) >= max(age, costing*g.cost)
}

// known reports whether the amount was measured ever.
func (g *gauge) known() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.at.IsZero()
}

// refresh measures, unless somebody else has while it waited for its turn.
func (g *gauge) refresh(ctx context.Context) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.turn }()
	if !g.stale(true) {
		return nil
	}
	g.mu.Lock()
	before := g.added // is in what is measured; what is added meanwhile may count twice until the next time
	g.mu.Unlock()
	began := g.now()
	n, err := g.measure(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measured, g.added = n, g.added-before
	g.at = g.now()
	g.cost = g.at.Sub(began)
	return nil
}

// fits reports whether so much more is within a bound. It refuses by a fresh
// measurement alone, so that room that was made counts at once.
func (g *gauge) fits(ctx context.Context, most, more int64) (bool, error) {
	if !g.known() {
		if err := g.refresh(ctx); err != nil {
			return false, err
		}
	}
	if g.value()+more <= most {
		return true, nil
	}
	if !g.stale(true) {
		return false, nil
	}
	if err := g.refresh(ctx); err != nil {
		return false, err
	}
	return g.value()+more <= most, nil
}
