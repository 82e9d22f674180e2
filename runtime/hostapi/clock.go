package hostapi

import (
	"fmt"
	"io"
	"time"

	"armature/core/fault"
	"armature/runtime/engine"
)

// clock tells the time.
func clock(now func() time.Time) func(*engine.Call, []uint64) {
	return func(_ *engine.Call, stack []uint64) { stack[0] = uint64(now().UnixMicro()) }
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
		b := receive(c, stack[0], stack[1])
		if _, err := io.ReadFull(source, b); err != nil {
			c.Abort(fmt.Errorf("read random bytes: %w", err))
		}
	}
}
