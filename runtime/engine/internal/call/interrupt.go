package call

import (
	"context"
	"time"
)

// quantum is how much fuel a guest gets at a time: 60 microseconds of work as methods
// do it, half a millisecond of a tight loop of slow instructions. Between two
// interruptions nothing can stop it, the garbage collector included. It is the same
// for all, so that a call that is repeated is interrupted in the same places.
const quantum = 250_000

// turnFuel is after how much fuel a call takes its turn, or passes it on.
const turnFuel = 1_000_000

// startMeter gives a call its first fuel, of which it has spent some before it begins.
func (c *Call) startMeter(prepaid uint64) {
	c.turned = 0
	c.in.Meter.Give(prepaid, int64(min(c.limits.Fuel-min(c.limits.Fuel, prepaid), quantum)), uint64(c.limits.Depth))
}

// Yield is the function that the code added to guests calls when fuel or depth is
// used up.
func Yield(ctx context.Context, _ []uint64) { Of(ctx).yield() }

// yield interrupts the guest: it ends the call when a limit is reached, lets
// others run, and gives fuel for another quantum.
func (c *Call) yield() {
	c.usage.Yields++
	meter := &c.in.Meter
	depth, ok := meter.Depth()
	if !ok {
		stop(TooDeep, "more than %d nested calls", c.limits.Depth)
	}
	used := meter.Used()
	if used >= c.limits.Fuel {
		stop(OutOfFuel, "%d units", c.limits.Fuel)
	}
	now := c.checkTime()
	c.checkProcessor(now, used)
	if used-c.turned >= turnFuel || c.turn.Over(now) {
		c.turned = used
		c.takeTurn()
	}
	meter.Give(used, int64(min(c.limits.Fuel-used, quantum)), depth)
}

// checkProcessor ends the call when it, or one that it is nested in, has used as much
// time as its fuel is taken for.
func (c *Call) checkProcessor(now time.Time, used uint64) {
	if !c.subject.ProcessorTime {
		return
	}
	c.turn.Used.Look(now)
	for of := c; of != nil; of = of.Parent {
		if c.turn.Used.Spent()-of.processorBefore >= timeOf(of.limits.Fuel) {
			stop(OutOfFuel, "%d units", used)
		}
	}
}

// Spend takes fuel for work that a host function does, or is about to do, in the
// guest's place; PerSecond says how much. It ends the call if there is too little,
// or if its time is up. Long work spends as it goes along, so that others get
// their turns.
func (c *Call) Spend(fuel uint64) {
	c.charge(min(fuel, c.fuelLeft()))
	if c.in.Meter.Empty() {
		c.yield()
	}
}
