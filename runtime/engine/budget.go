package engine

import (
	"context"
	"time"

	"armature/core/account"
	"armature/runtime/internal/rewrite"
)

// begin prepares the call: effective limits, deadline, and what it shares with
// its parent.
func (c *Call) begin(ctx context.Context, m *Module) {
	c.module, c.base, c.started = m, ctx, time.Now()
	c.limits = m.Limits(c.Limits)
	c.account = account.From(ctx)
	c.deadline = c.started.Add(c.limits.Wall)
	if d, ok := ctx.Deadline(); ok && d.Before(c.deadline) {
		c.deadline = d
	}
	c.overdue = Due{}
	c.Until(c.Due)
	if c.Parent == nil {
		c.own.party = c.Party
		c.turn = &c.own
		return
	}
	p := c.Parent
	c.turn, c.nesting = p.turn, p.nesting+1
	c.processorBefore = c.turn.processor.spent
	c.limits.Fuel = min(c.limits.Fuel, p.fuelLeft())
	if p.deadline.Before(c.deadline) {
		c.deadline, c.overdue = p.deadline, p.overdue
	}
}

// end closes the books of the call.
func (c *Call) end() {
	c.settle()
	if c.ctx != nil {
		c.ctx.End()
	}
	c.usage.Wall = time.Since(c.started)
	if p := c.Parent; p != nil {
		p.charge(c.usage.Fuel)
		p.usage.Nested += c.usage.Fuel
		return
	}
	c.leaveTurn()
}

// fuelLeft is what the call may still spend.
func (c *Call) fuelLeft() uint64 {
	if c.in == nil {
		return c.limits.Fuel
	}
	return c.limits.Fuel - min(c.limits.Fuel, c.in.used())
}

// charge makes the call pay for a nested one; if it cannot, it ends at its next
// interruption.
func (c *Call) charge(fuel uint64) {
	if c.in != nil {
		c.in.meter.Set(c.in.meter.Get() - fuel<<rewrite.FuelShift)
	}
}
