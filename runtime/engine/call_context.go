package engine

import (
	"context"
	"sync"
	"time"
)

// bounded is a context that ends at a deadline, like one of
// context.WithDeadline. Its timer is made when somebody first waits for it: most
// host functions ask for no more than whether the time is up. It is not part of
// the Call, because others may keep it for longer.
type bounded struct {
	base     context.Context
	outer    *bounded // the base, where it is one of the same call: they end together
	deadline time.Time

	mu     sync.Mutex
	ended  bool
	timed  context.Context // base with the deadline, once somebody waits
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (b *bounded) Deadline() (time.Time, bool) { return b.deadline, true }

// Done implements context.Context.
func (b *bounded) Done() <-chan struct{} { return b.wait().Done() }

// Err implements context.Context.
func (b *bounded) Err() error {
	if t := b.waiting(); t != nil {
		return t.Err()
	}
	if b.base.Err() == nil && time.Now().Before(b.deadline) {
		return nil
	}
	return b.wait().Err() // which stays what it is
}

// Value implements context.Context.
func (b *bounded) Value(key any) any {
	if t := b.waiting(); t != nil {
		return t.Value(key) // where package context finds how to cancel its own
	}
	return b.base.Value(key)
}

// wait makes the timer.
func (b *bounded) wait() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed == nil {
		b.timed, b.cancel = context.WithDeadline(b.base, b.deadline)
		if b.ended {
			b.cancel()
		}
	}
	return b.timed
}

// waiting is the context with a timer, which for one that has ended is made now;
// nil while nobody waits.
func (b *bounded) waiting() context.Context {
	b.mu.Lock()
	t, ended := b.timed, b.ended
	b.mu.Unlock()
	if t == nil && ended {
		return b.wait()
	}
	return t
}

// end cancels the context.
func (b *bounded) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.cancel != nil {
		b.cancel()
	}
	if b.outer != nil {
		b.outer.end()
	}
}
