package engine

import (
	"context"

	"armature/core/account"
)

// What the linear memories of guests take is charged before they have it: that of a
// call, at its length, to whoever the call is made for; what an idle instance keeps
// of the last one to the engine, which gives it up as soon as memory is short.

// keptUnit is in which units idle instances are charged, in bytes, so that what
// changes a little from call to call is not charged anew each time.
const keptUnit = 1 << 20

// take charges n bytes more to the call; it waits for a moment if there are none.
// It reports false when there are none then either, and c.short says why.
func (c *Call) take(n uint64) bool {
	if n == 0 || c.account.Try(account.Guest, int64(n)) {
		c.charged += int64(n)
		return true
	}
	c.leaveTurn() // others may run meanwhile; the next interruption takes one again
	if c.short = c.account.Take(c.Context(), account.Guest, int64(n)); c.short != nil {
		return false
	}
	c.charged += int64(n)
	return true
}

// Admit implements linear.Admission for the call that the instance serves.
func (in *instance) Admit(more uint64) bool { return in.call == nil || in.call.take(more) }

// settle gives back what the call was charged.
func (c *Call) settle() {
	c.account.Give(account.Guest, c.charged)
	c.charged = 0
}

// shortened is the error of a guest that failed for want of memory that its limits
// allow: it is the server that is short.
func (c *Call) shortened(failed *Error) *Error {
	if failed == nil || c.short == nil {
		return failed
	}
	switch failed.Reason {
	case Trap, OutOfMemory, Exited, Aborted, BadPointer:
		return &Error{Reason: Unavailable, Export: failed.Export, Stack: failed.Stack, Err: c.short}
	}
	return failed
}

// keep charges the engine what the instance keeps while it is idle. It reports false
// when there is no memory for that.
func (in *instance) keep() bool {
	if in.memory == nil || in.module.engine.idle == nil {
		return true
	}
	kept := (int64(in.memory.Kept()) + keptUnit - 1) / keptUnit * keptUnit
	idle := in.module.engine.idle
	switch {
	case kept > in.kept:
		if !idle.Try(account.Guest, kept-in.kept) {
			return false
		}
	case kept < in.kept:
		idle.Give(account.Guest, in.kept-kept)
	}
	in.kept = kept
	return true
}

// giveUp has all idle instances give back what they keep.
func (e *Engine) giveUp() {
	for _, m := range e.loaded() {
		m.trimIdle(func(*instance) bool { return true }, true)
	}
}

// chargeSnapshot charges the engine what all instances of a module share.
func (m *Module) chargeSnapshot(ctx context.Context) error {
	if m.snapshot.image == nil {
		return nil
	}
	n := int64(len(m.snapshot.image.Bytes()))
	if err := m.engine.idle.Take(ctx, account.Plugin, n); err != nil {
		return err
	}
	m.charged = n
	return nil
}
