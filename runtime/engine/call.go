package engine

import (
	"context"
	"fmt"
	"time"

	"armature/core/account"
	"armature/runtime/engine/internal/deadline"
)

// Call is one run of one exported function. The caller fills in the exported
// fields; host functions receive the same pointer. A Call serves once and
// belongs to one goroutine: its methods may be used by host functions, on the
// goroutine that runs them, while the call lasts.
type Call struct {
	Export string // the function's export name
	Arg    int32  // its argument, if it takes one
	Limits Limits
	State  any   // what host functions keep about this call
	Parent *Call // the call whose host function makes this one, if any

	// Party is whose call this is. While more guests run for long than there are
	// slots, each party gets its share of them. Of a nested call it is the
	// parent's.
	Party string

	// OnOutput receives what the guest prints, line by line without the
	// newline. The slice is valid during the call of OnOutput only.
	OnOutput func(c *Call, stderr bool, line []byte)

	// Senses hears, or decides, what WASI tells the guest of the world; nil: the
	// host's clock and randomness as they are. While a guest warms up, they are
	// its module's Birth.
	Senses Senses

	// Due ends the call before its limits do; zero: nothing does.
	Due Due

	// Memo is what an interpreter keeps about the call.
	Memo any

	// Result is what the function returned, if it returns anything.
	Result uint64

	warm         bool
	unhurried    bool // waiting for a slot does not count against its time
	module       *Module
	in           *instance // while the guest runs
	base         context.Context
	ctx          *deadline.Context // base with the deadline, once asked for
	started      time.Time
	deadline     time.Time
	overdue      Due    // what the deadline is for; zero: the call itself
	limits       Limits // in force
	prepaid      uint64 // fuel spent on initialising an instance for this call alone
	usage        Usage
	reservedPeak uint64 // the most bytes the host has kept for the guest
	account      *account.Call
	charged      int64  // bytes, to account
	short        error  // why account has not got what the guest asked for
	refused      uint64 // bytes that Reserve refused
	turn         *turn
	own          turn
	nesting      int

	processorBefore time.Duration // what the chain had used when the call began
}

// Senses stands between a guest and the clock and randomness of WASI, so that a
// call can be recorded and repeated. Its methods may end the call by Abort.
type Senses interface {
	// Clock returns what the guest is told when the clock of that number says ns.
	Clock(c *Call, id uint32, ns int64) int64
	// Random may change the random bytes the guest is about to get.
	Random(c *Call, b []byte)
}

// Warm reports that the guest runs its own initialisation: there is no caller,
// no site and no State, and what it computes becomes part of every later call.
// Host functions that reach data must refuse.
func (c *Call) Warm() bool { return c.warm }

// Module is the module the call runs in.
func (c *Call) Module() *Module { return c.module }

// Usage is what the call has cost so far.
func (c *Call) Usage() Usage {
	u := c.usage
	if c.in != nil {
		u.Fuel = c.in.used()
		if c.in.memory != nil {
			u.MemoryPeak = max(c.in.memory.Peak(), uint64(c.in.mem.Size()))
		}
		u.MemoryPeak += c.reservedPeak
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

// Due is a moment by which a call must have ended because of something it keeps
// from others.
type Due struct {
	At      time.Time     // zero: there is none
	Allowed time.Duration // and For: what the error says, such as "a lock may be kept for 2s"
	For     string
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

// Read returns length bytes of the guest's memory at ptr. The slice is the
// memory itself: it is valid until the host function returns. A range outside
// the memory ends the call with BadPointer.
func (c *Call) Read(ptr, length uint32) []byte {
	if c.in.mem != nil {
		if b, ok := c.in.mem.Read(ptr, length); ok {
			return b
		}
	}
	c.badPointer(ptr, length)
	return nil
}

// Write copies b into the guest's memory at ptr. A range outside the memory
// ends the call with BadPointer.
func (c *Call) Write(ptr uint32, b []byte) {
	if c.in.mem != nil && c.in.mem.Write(ptr, b) {
		return
	}
	c.badPointer(ptr, uint32(len(b)))
}

func (c *Call) badPointer(ptr, length uint32) { c.BadPointer(uint64(ptr), uint64(length)) }

// BadPointer ends the guest for a pointer and a length that are not its own, in
// its memory or in what a dialect keeps for it; it does not return.
func (c *Call) BadPointer(ptr, length uint64) {
	panic(&abort{reason: BadPointer, detail: fmt.Sprintf("%d bytes at address %d", length, ptr)})
}

// Abort ends the guest with err; it does not return. The call fails with an
// Error that unwraps to err.
func (c *Call) Abort(err error) {
	panic(&abort{reason: Aborted, err: err})
}

// stop ends the guest for a reason of the engine.
func (c *Call) stop(reason Reason, format string, args ...any) {
	panic(&abort{reason: reason, detail: fmt.Sprintf(format, args...)})
}

// Reserve counts n bytes that the host keeps for the guest against its memory
// limit, in place of those counted before; false when that is over it.
func (c *Call) Reserve(n uint64) bool {
	in := c.in
	have := uint64(0)
	if in.mem != nil {
		have = uint64(in.mem.Size())
	}
	if limit := c.limits.Memory; n > limit || have > limit-n {
		c.refused = max(c.refused, n)
		return false
	}
	if n > c.reservedPeak && !c.take(n-c.reservedPeak) {
		return false
	}
	c.reservedPeak = max(c.reservedPeak, n)
	if in.memory != nil {
		in.memory.Confine(max(c.limits.Memory-n, 1)) // 0 is no limit
	}
	return true
}
