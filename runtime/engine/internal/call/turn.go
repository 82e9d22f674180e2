package call

import (
	"time"

	"armature/core/fair"
)

// waiting is a call while it waits for a slot.
type waiting Call

// Done ends the wait for a slot.
func (w *waiting) Done() <-chan struct{} {
	if w.unhurried {
		return w.base.Done()
	}
	return (*Call)(w).Context().Done()
}

// takeTurn takes a slot, or passes it on when others wait. Who runs for long shares the
// slots, and no longer what short requests share.
func (c *Call) takeTurn() {
	if c.turn.Work == nil {
		c.turn.Work = fair.Pause(c.base)
	}
	c.waited(c.turn.Take((*waiting)(c)))
}

// Blocking runs fn, which may wait for something outside, without holding up
// other guests. Host functions that do I/O use it.
func (c *Call) Blocking(fn func()) {
	p := c.turn.Pause()
	fn()
	c.waited(c.turn.Resume(p, (*waiting)(c)))
}

// waited takes down a wait for a slot, and ends the call if there is none for it.
func (c *Call) waited(d time.Duration, got bool) {
	c.usage.Queued += d
	if c.unhurried {
		c.deadline = c.deadline.Add(d)
	}
	if !got {
		c.checkTime()
		stop(Canceled, "")
	}
}
