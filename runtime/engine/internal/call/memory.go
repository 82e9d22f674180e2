package call

import "armature/core/account"

// What the linear memories of guests take is charged before they have it, at its
// length, to whoever the call is made for.

// take charges n bytes more to the call; it waits for a moment if there are none.
// It reports false when there are none then either, and c.short says why.
func (c *Call) take(n uint64) bool {
	if n == 0 || c.account.Try(account.Guest, int64(n)) {
		c.charged += int64(n)
		return true
	}
	c.turn.Leave() // others may run meanwhile; the next interruption takes one again
	if c.short = c.account.Take(c.Context(), account.Guest, int64(n)); c.short != nil {
		return false
	}
	c.charged += int64(n)
	return true
}

// Admit implements linear.Admission.
func (r *running) Admit(more uint64) bool { return (*Call)(r).take(more) }

// settle gives back what the call was charged.
func (c *Call) settle() {
	c.account.Give(account.Guest, c.charged)
	c.charged = 0
}

// Read returns length bytes of the guest's memory at ptr. The slice is the
// memory itself: it is valid until the host function returns. A range outside
// the memory ends the call with BadPointer.
func (c *Call) Read(ptr, length uint32) []byte {
	b, ok := c.in.Read(ptr, length)
	if !ok {
		c.BadPointer(uint64(ptr), uint64(length))
	}
	return b
}

// Write copies b into the guest's memory at ptr. A range outside the memory
// ends the call with BadPointer.
func (c *Call) Write(ptr uint32, b []byte) {
	if !c.in.Write(ptr, b) {
		c.BadPointer(uint64(ptr), uint64(len(b)))
	}
}

// Reserve counts n bytes that the host keeps for the guest against its memory
// limit, in place of those counted before; false when that is over it.
func (c *Call) Reserve(n uint64) bool {
	if limit := c.limits.Memory; n > limit || c.in.Size() > limit-n {
		c.refused = max(c.refused, n)
		return false
	}
	if n > c.reservedPeak && !c.take(n-c.reservedPeak) {
		return false
	}
	c.reservedPeak = max(c.reservedPeak, n)
	c.in.Confine(max(c.limits.Memory-n, 1)) // 0 is no limit
	return true
}
