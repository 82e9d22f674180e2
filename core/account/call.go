package account

import (
	"context"
	"math"
	"sync"
	"time"

	"armature/core/fault"
)

// Call is what one request holds, or another piece of work. A nil one, and one that
// was not begun, are charged nothing. It is safe for concurrent use.
type Call struct {
	account  *Account
	site     *site
	own      share
	shares   shares // guarded by mu where they change
	stranger bool
	several  bool          // parts of it wait for each other, as those of one request do not
	patience time.Duration // how long it waits for memory, at most

	mu    sync.Mutex
	held  [kinds]int64
	ended bool
}

// strangerAt is where in its shares a call has that of the strangers.
const strangerAt = 1

// Begin begins c as a call to a site, over a connection, or none where conn is nil.
// A stranger is somebody who has shown no credentials yet.
func (a *Account) Begin(c *Call, siteName string, conn *Connection, stranger bool) {
	if a == nil {
		return
	}
	c.account, c.site, c.patience = a, a.site(siteName), patience
	c.own.most = a.part(callEighths)
	c.shares = shares{&c.own, nil, nil, &c.site.share, &a.root}
	if stranger {
		c.stranger, c.shares[strangerAt] = true, &c.site.strangers
	}
	if conn != nil {
		c.shares[strangerAt+1] = &conn.share
	}
}

// Work is a call of the process itself: what it holds counts for no site, may be as
// much as a site's, and is waited for longer, since no request may be made again.
func (a *Account) Work() *Call {
	if a == nil {
		return nil
	}
	c := &Call{}
	a.Begin(c, "", nil, false)
	c.own.most, c.patience, c.several = c.site.most, workPatience, true
	return c
}

// Know tells that the call has turned out to be no stranger's.
func (c *Call) Know() {
	if c == nil || !c.stranger {
		return
	}
	a := c.account
	a.mu.Lock() // whoever is charged while it waits
	defer a.mu.Unlock()
	c.shares[strangerAt], c.stranger = nil, false
	c.site.strangers.held.Add(-c.own.held.Load())
	if a.waiting.Load() > 0 {
		a.hand()
	}
}

// Take charges n bytes more, waiting for them for a moment. An error is ctx's when
// that has ended, Unavailable when there are none (Refusal is its cause), TooLarge
// when it is more than one call may have.
func (c *Call) Take(ctx context.Context, kind Kind, n int64) error {
	if c == nil || c.account == nil || n <= 0 {
		return nil
	}
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended {
		return nil
	}
	if err := c.charge(ctx, n); err != nil {
		return err
	}
	c.mu.Lock()
	if c.ended { // while it waited
		c.mu.Unlock()
		c.shares.give(n)
		c.account.free()
		return nil
	}
	c.held[kind] += n
	c.mu.Unlock()
	c.account.note(kind, n)
	return nil
}

// charge takes n bytes of all shares.
func (c *Call) charge(ctx context.Context, n int64) error {
	a := c.account
	if n > c.own.most || !c.several && c.own.held.Load()+n > c.own.most {
		return fault.New(fault.TooLarge, "", "The request would take more memory than one may have, %d bytes", c.own.most)
	}
	if a.waiting.Load() == 0 && c.shares.add(n) == nil {
		return nil
	}
	if a.squeeze() && a.waiting.Load() == 0 && c.shares.add(n) == nil {
		return nil
	}
	return a.wait(ctx, c, n)
}

// Most is how much the call may hold; for one that is charged nothing, as much as
// there can be.
func (c *Call) Most() int64 {
	if c == nil || c.account == nil {
		return math.MaxInt64
	}
	return c.own.most
}

// Try is Take for who cannot wait; it reports whether there was memory.
func (c *Call) Try(kind Kind, n int64) bool {
	if c == nil || c.account == nil || n <= 0 {
		return true
	}
	if c.account.waiting.Load() > 0 || c.shares.add(n) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		c.shares.give(n)
		return true
	}
	c.held[kind] += n
	c.account.note(kind, n)
	return true
}

// Reach is Take of what a kind lacks to n bytes: for what grows, and may begin anew.
func (c *Call) Reach(ctx context.Context, kind Kind, n int64) error {
	if c == nil || c.account == nil {
		return nil
	}
	c.mu.Lock()
	n -= c.held[kind]
	c.mu.Unlock()
	return c.Take(ctx, kind, n)
}

// Give gives n bytes of a kind back, or as many as there are.
func (c *Call) Give(kind Kind, n int64) {
	if c == nil || c.account == nil {
		return
	}
	c.mu.Lock()
	n = min(n, c.held[kind])
	c.held[kind] -= n
	c.mu.Unlock()
	c.back(kind, n)
}

// End gives everything back. What is taken afterwards is not charged.
func (c *Call) End() {
	if c == nil || c.account == nil {
		return
	}
	c.mu.Lock()
	held := c.held
	c.held, c.ended = [kinds]int64{}, true
	c.mu.Unlock()
	for kind, n := range held {
		c.back(Kind(kind), n)
	}
}

func (c *Call) back(kind Kind, n int64) {
	if n <= 0 {
		return
	}
	c.shares.give(n)
	c.account.note(kind, -n)
	c.account.free()
}
