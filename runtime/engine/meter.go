package engine

import (
	"context"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/api"

	"armature/runtime/abi"
	"armature/runtime/internal/rewrite"
)

// quantum is how much fuel a guest gets at a time: 60 microseconds of work as methods
// do it, half a millisecond of a tight loop of slow instructions. Between two
// interruptions nothing can stop it, the garbage collector included. It is the same
// for all, so that a call that is repeated is interrupted in the same places.
const quantum = 250_000

// A call takes its turn, or passes it on, after so much fuel, or so much time.
const (
	turnFuel = 1_000_000
	turnTime = 500 * time.Microsecond
)

// maxNesting bounds calls from module to module.
const maxNesting = 8

// linkYield defines the function that rewritten guests call when fuel or depth
// is used up.
func (e *Engine) linkYield(ctx context.Context) error {
	_, err := e.rt.NewHostModuleBuilder(abi.ReservedPrefix+rewrite.HostModule).
		NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(ctx context.Context, _ []uint64) {
			instanceOf(ctx).yield()
		}), nil, nil).
		Export(rewrite.Yield).
		Instantiate(ctx)
	return err
}

// startMeter gives a call its first fuel.
func (in *instance) startMeter(c *Call) {
	in.spent, in.turned = int64(c.prepaid), 0
	in.refill(int64(min(c.limits.Fuel-min(c.limits.Fuel, c.prepaid), quantum)), uint64(c.limits.Depth))
}

func (in *instance) refill(fuel int64, depth uint64) {
	in.given = fuel
	in.meter.Set(uint64(fuel)<<rewrite.FuelShift | depth)
}

// used is the fuel the call has spent, nested calls included.
func (in *instance) used() uint64 {
	return uint64(in.spent + in.given - int64(in.meter.Get())>>rewrite.FuelShift)
}

// yield interrupts the guest: it ends the call when a limit is reached, lets
// others run, and gives fuel for another quantum.
func (in *instance) yield() {
	c := in.call
	c.usage.Yields++
	meter := in.meter.Get()
	if meter&rewrite.DepthGuard != 0 {
		c.stop(TooDeep, "more than %d nested calls", c.limits.Depth)
	}
	used := in.used()
	if used >= c.limits.Fuel {
		c.stop(OutOfFuel, "%d units", c.limits.Fuel)
	}
	now := c.checkTime()
	c.checkProcessor(now, used)
	if used-in.turned >= turnFuel || c.turn.held && now.Sub(c.turn.since) >= turnTime {
		in.turned = used
		c.takeTurn()
	}
	in.spent = int64(used)
	in.refill(int64(min(c.limits.Fuel-used, quantum)), meter&rewrite.MaxDepth)
}

// checkTime ends the call when its time is up or its caller is gone. It returns
// what it takes for now.
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

// turn is the admission slot of a chain of nested calls, which run on one
// goroutine.
type turn struct {
	party     string // whose calls the chain shares slots with
	held, had bool
	since     time.Time // when it last let others run
	processor processor
}

// takeTurn takes a slot, or passes it on when others wait, and lets the Go
// scheduler run something else.
func (c *Call) takeTurn() {
	a := c.module.engine.admission
	counted := c.turn.processor.stop()
	switch {
	case !c.turn.held:
		c.enterTurn()
	case a.contended():
		c.turn.held = false
		began := time.Now()
		c.entered(began, a.pass(c.turn.party, c))
	}
	// Whoever passes a slot on has the next guest run on its processor at once, before
	// all that waits there for less: so guests would go round among themselves.
	runtime.Gosched()
	c.turn.since = time.Now()
	if counted {
		c.turn.processor.start()
	}
}

func (c *Call) enterTurn() {
	began := time.Now()
	c.entered(began, c.module.engine.admission.acquire(c.turn.party, c.turn.had, c))
}

// entered ends a wait for a slot, and the call if there is none for it.
func (c *Call) entered(began time.Time, got bool) {
	waited := time.Since(began)
	c.usage.Queued += waited
	if c.unhurried {
		c.deadline = c.deadline.Add(waited)
	}
	if !got {
		c.checkTime()
		c.stop(Canceled, "")
	}
	c.turn.held, c.turn.had = true, true
}

// done ends the wait for a slot.
func (c *Call) done() <-chan struct{} {
	if c.unhurried {
		return c.base.Done()
	}
	return c.Context().Done()
}

func (c *Call) leaveTurn() {
	if c.turn.held {
		c.turn.held = false
		c.module.engine.admission.release(c.turn.party)
	}
}

// Blocking runs fn, which may wait for something outside, without holding up
// other guests. Host functions that do I/O use it.
func (c *Call) Blocking(fn func()) {
	held := c.turn.held
	counted := c.turn.processor.stop()
	c.leaveTurn()
	fn()
	if held && !c.turn.held {
		c.enterTurn()
	}
	if counted {
		c.turn.processor.start()
	}
}

// Spend takes fuel for work that a host function does, or is about to do, in the
// guest's place; perSecond says how much. It ends the call if there is too little,
// or if its time is up. Long work spends as it goes along, so that others get
// their turns.
func (c *Call) Spend(fuel uint64) {
	c.charge(min(fuel, c.fuelLeft()))
	if int64(c.in.meter.Get())>>rewrite.FuelShift <= 0 {
		c.in.yield()
	}
}
