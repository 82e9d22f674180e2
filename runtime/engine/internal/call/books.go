package call

import (
	"context"
	"time"

	"armature/core/account"
)

// maxNesting bounds calls from module to module.
const maxNesting = 8

// Begin opens the books of a call of s: effective limits, deadline, and what it shares
// with its parent. An error refuses the call; End follows in any case.
func Begin(ctx context.Context, c *Call, s *Subject) *Error {
	c.subject, c.base, c.started = s, ctx, time.Now()
	c.limits = s.Effective(c.Limits)
	c.account = account.From(ctx)
	c.deadline = c.started.Add(c.limits.Wall)
	if d, ok := ctx.Deadline(); ok && d.Before(c.deadline) {
		c.deadline = d
	}
	c.overdue = Due{}
	c.Until(c.Due)
	if c.Parent == nil {
		c.own.Slots, c.own.Party = s.Slots, c.Party
		c.turn = &c.own
		return nil
	}
	p := c.Parent
	c.turn, c.nesting = p.turn, p.nesting+1
	c.processorBefore = c.turn.Used.Spent()
	c.limits.Fuel = min(c.limits.Fuel, p.fuelLeft())
	if p.deadline.Before(c.deadline) {
		c.deadline, c.overdue = p.deadline, p.overdue
	}
	if c.nesting > maxNesting {
		return &Error{Reason: TooDeep, Export: c.Export, Detail: "calls between modules are nested too deep"}
	}
	return nil
}

// End closes the books, and says what the call has cost.
func End(c *Call) Usage {
	c.settle()
	if c.ctx != nil {
		c.ctx.End()
	}
	c.usage.Wall = time.Since(c.started)
	if p := c.Parent; p != nil {
		p.charge(c.usage.Fuel)
		p.usage.Nested += c.usage.Fuel
		return c.usage
	}
	c.turn.Leave()
	c.turn.Work.Resume(c.base)
	return c.usage
}

// Usage is what the call has cost so far, but for what is done before and after it.
func (c *Call) Usage() Usage {
	u := c.usage
	if c.in != nil {
		u.Fuel, u.MemoryPeak = c.in.Meter.Used(), c.in.Peak()+c.reservedPeak
	}
	u.Wall = time.Since(c.started)
	return u
}

// Remaining is what the call may still use: the limits to give to a call made
// on its behalf outside of Parent.
func (c *Call) Remaining() Limits {
	l := c.limits
	l.Fuel = max(c.fuelLeft(), 1)
	l.Wall = max(time.Until(c.deadline), 1)
	l.HostCalls = max(c.limits.HostCalls-c.usage.HostCalls, 1)
	return l
}

// fuelLeft is what the call may still spend.
func (c *Call) fuelLeft() uint64 {
	if c.in == nil {
		return c.limits.Fuel
	}
	return c.limits.Fuel - min(c.limits.Fuel, c.in.Meter.Used())
}

// charge makes the call pay for a nested one; if it cannot, it ends at its next
// interruption.
func (c *Call) charge(fuel uint64) {
	if c.in != nil {
		c.in.Meter.Charge(fuel)
	}
}
