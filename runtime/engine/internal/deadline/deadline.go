// Package deadline has contexts that cost a timer only when somebody waits for them:
// most of those who are given one ask for no more than whether the time is up.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context ends at a deadline, like one of context.WithDeadline, or with End. Its
// timer is made when somebody first waits for it.
type Context struct {
	base     context.Context
	outer    *Context // the base, where it is one of the same work: they end together
	deadline time.Time

	mu     sync.Mutex
	ended  bool
	timed  context.Context // base with the deadline, once somebody waits
	cancel context.CancelFunc
}

// New makes a context that ends with base and at the deadline.
func New(base context.Context, deadline time.Time) *Context {
	return &Context{base: base, deadline: deadline}
}

// Earlier makes a context for the rest of the same work, which has to be done by an
// earlier moment: to end it ends both.
func (b *Context) Earlier(deadline time.Time) *Context {
	return &Context{base: b, outer: b, deadline: deadline}
}

// Deadline implements context.Context.
func (b *Context) Deadline() (time.Time, bool) { return b.deadline, true }

// Done implements context.Context.
func (b *Context) Done() <-chan struct{} { return b.wait().Done() }

// Err implements context.Context.
func (b *Context) Err() error {
	if t := b.waiting(); t != nil {
		return t.Err()
	}
	if b.base.Err() == nil && time.Now().Before(b.deadline) {
		return nil
	}
	return b.wait().Err() // which stays what it is
}

// Value implements context.Context.
func (b *Context) Value(key any) any {
	if t := b.waiting(); t != nil {
		return t.Value(key) // where package context finds how to cancel its own
	}
	return b.base.Value(key)
}

// wait makes the timer.
func (b *Context) wait() context.Context {
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
func (b *Context) waiting() context.Context {
	b.mu.Lock()
	t, ended := b.timed, b.ended
	b.mu.Unlock()
	if t == nil && ended {
		return b.wait()
	}
	return t
}

// End cancels the context.
func (b *Context) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.cancel != nil {
		b.cancel()
	}
	if b.outer != nil {
		b.outer.End()
	}
}
