package hostapi

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// clock tells the time.
func clock(now func() time.Time) func(*engine.Call, []uint64) {
	return func(c *engine.Call, stack []uint64) {
		st := of(c)
		if st != nil && st.replay != nil {
			stack[0] = uint64(st.repeatTime(c))
			return
		}
		at := now()
		if st != nil {
			at = at.Add(-st.late())
		}
		if c.Warm() {
			stack[0] = uint64(c.Senses.Clock(c, 0, at.UnixNano()) / 1000)
			return
		}
		stack[0] = uint64(at.UnixMicro())
		if st != nil && st.record != nil {
			st.record.add(Answer{Import: abi.Now, Time: int64(stack[0])})
		}
	}
}

// time is when the call is, by the site's clock.
func (st *State) time() time.Time {
	if st.call.Documents == nil {
		return time.Now().Add(-st.late())
	}
	return st.call.Documents.Now().Add(-st.late())
}

// late is how much later this run of the transaction began than the first: a run
// again is told the same time.
func (st *State) late() time.Duration {
	if st.call.Tx == nil {
		return 0
	}
	return st.call.Tx.SideEffects().Trial().Late()
}

// draw fills b with random bytes that every run of the transaction draws, and
// reports whether there is one.
func (st *State) draw(b []byte) bool {
	if st == nil || st.call.Tx == nil {
		return false
	}
	st.call.Tx.SideEffects().Trial().Random(b)
	return true
}

// maxRandom is how many random bytes one call gives: no instruction of the guest
// is counted while they are made.
const maxRandom = 64 << 10

// random fills a range with random bytes.
func random(source io.Reader) func(*engine.Call, []uint64) {
	return func(c *engine.Call, stack []uint64) {
		n := uint32(stack[1])
		if n > maxRandom {
			c.Abort(fault.New(fault.Exhausted, "", "random: more than %d bytes at once", maxRandom))
		}
		c.Spend(byteFuel * uint64(n))
		b := receive(c, stack[0], stack[1])
		st := of(c)
		if st != nil && st.replay != nil {
			st.repeatRandom(c, b)
			return
		}
		if c.Warm() {
			c.Senses.Random(c, b)
			return
		}
		if !st.draw(b) {
			if _, err := io.ReadFull(source, b); err != nil {
				c.Abort(fmt.Errorf("read random bytes: %w", err))
			}
		}
		if st != nil && st.record != nil {
			st.record.add(Answer{Import: abi.Random, Answer: bytes.Clone(b)})
		}
	}
}
