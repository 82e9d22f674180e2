package call

import (
	"context"
	"time"

	"armature/runtime/engine/internal/deadline"
)

// Deadline is when the call's time is up.
func (c *Call) Deadline() time.Time { return c.deadline }

// Context is the caller's context, ending with the call and with its wall-clock
// limit. It costs a timer as soon as somebody waits for it.
func (c *Call) Context() context.Context {
	if c.ctx == nil {
		c.ctx = deadline.New(c.base, c.deadline)
	}
	return c.ctx
}

// Until lowers the deadline of a call under way.
func (c *Call) Until(d Due) {
	if d.At.IsZero() || !d.At.Before(c.deadline) {
		return
	}
	c.deadline, c.overdue = d.At, d
	if c.ctx != nil {
		c.ctx = c.ctx.Earlier(d.At)
	}
}

// CheckTime ends the call when its time is up or its caller is gone.
func (c *Call) CheckTime() { c.checkTime() }

// checkTime is CheckTime, and returns what it takes for now.
func (c *Call) checkTime() (now time.Time) {
	if err := c.base.Err(); err != nil && err != context.DeadlineExceeded {
		panic(&abort{reason: Canceled, err: err})
	}
	if now = time.Now(); !now.Before(c.deadline) {
		panic(&abort{reason: Deadline, detail: c.allowed(), err: context.DeadlineExceeded})
	}
	return now
}

// allowed is what the deadline is about.
func (c *Call) allowed() string {
	if c.overdue.For == "" {
		return c.limits.Wall.String()
	}
	return c.overdue.For + " " + c.overdue.Allowed.String()
}

// Overdue is the error of a call that has ended after its deadline.
func (c *Call) Overdue() *Error {
	return &Error{Reason: Deadline, Export: c.Export, Detail: c.allowed(), Err: context.DeadlineExceeded}
}
