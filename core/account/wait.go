package account

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"armature/core/fault"
)

// waiter is a charge that waits.
type waiter struct {
	call *Call
	n    int64
	come chan struct{} // closed when it has been charged
}

// wait queues a charge until it has come, for as long as patience lasts.
func (a *Account) wait(ctx context.Context, c *Call, n int64) error {
	w := &waiter{call: c, n: n, come: make(chan struct{})}
	a.mu.Lock()
	c.site.queue = append(c.site.queue, w)
	a.waiting.Add(1)
	a.hand() // something may have been given back just before
	a.mu.Unlock()
	select {
	case <-w.come:
		return nil
	default:
	}
	a.waited.Add(1)
	// Not all for as long: of those who hold a part of what they need and wait for the
	// rest, one gives up first, and the others go on with what it held.
	timer := time.NewTimer(c.patience/2 + rand.N(c.patience/2))
	defer timer.Stop()
	var err error
	select {
	case <-w.come:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = short()
	}
	if !a.withdraw(w) {
		return nil // it came at the same moment
	}
	a.refused.Add(1)
	return err
}

// withdraw takes a charge out of its queue; false if it has been charged.
func (a *Account) withdraw(w *waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	queue := &w.call.site.queue
	at := slices.Index(*queue, w)
	if at < 0 {
		return false
	}
	*queue = slices.Delete(*queue, at, at+1)
	a.waiting.Add(-1)
	a.hand() // who waits for more than is free keeps others waiting
	return true
}

// hand charges those who wait, as far as there is memory: sites that hold little
// before those that hold much. While somebody waits for more than is free, a site
// that holds its part among all of them gets no more. The caller has locked a.
func (a *Account) hand() {
	var waiting []*site
	active := int64(0)
	for _, s := range a.sites {
		if len(s.queue) > 0 {
			waiting = append(waiting, s)
		}
		if len(s.queue) > 0 || s.held.Load() > 0 {
			active++
		}
	}
	slices.SortFunc(waiting, func(s, t *site) int { return cmp.Compare(s.held.Load(), t.held.Load()) })
	scarce := false
	for _, s := range waiting {
		s.queue = slices.DeleteFunc(s.queue, func(w *waiter) bool {
			if scarce && s.held.Load()+w.n > a.root.most/active {
				return false
			}
			switch w.call.shares.add(w.n) {
			case nil:
				a.waiting.Add(-1)
				close(w.come)
				return true
			case &a.root:
				scarce = true
			}
			return false
		})
	}
}

// free is called after something was given back.
func (a *Account) free() {
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hand()
}

// Refusal is the cause of the fault of who found no memory. It knows the headers of
// the answer.
type Refusal struct{}

// Error tells the log what was short.
func (Refusal) Error() string { return "the account of the process's memory is used up" }

// SetHeaders sets Retry-After.
func (Refusal) SetHeaders(h http.Header) { h.Set("Retry-After", "1") }

func short() error {
	return fault.Wrap(fault.Unavailable, "", Refusal{}, "The server is short of memory; try again in a moment")
}
