package link

import (
	"encoding/binary"
	"time"

	"armature/runtime/engine/internal/call"
)

// Sizes and tags of poll_oneoff's records.
const (
	subscriptionSize = 48
	eventSize        = 32
	eventClock       = 0
	maxSubscriptions = 64
	clockAbsolute    = 1
)

// poll waits for the earliest of the subscribed clocks, which is how guests
// sleep. Descriptors are ready at once: there is nothing to wait for on them.
// The wait ends with the call's deadline and holds no admission slot.
func (t Clocks) poll(c *call.Call, s []uint64) uint32 {
	in, out, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	subs := c.Read(in, n*subscriptionSize)
	if wait := t.wait(subs); wait > 0 {
		c.Blocking(func() { sleep(c, wait) })
	}
	events := c.Read(out, n*eventSize)
	for i := range n {
		sub := subs[i*subscriptionSize:][:subscriptionSize]
		event := events[i*eventSize:][:eventSize]
		clear(event)
		copy(event[:8], sub[:8]) // the guest's own data
		event[10] = sub[8]       // event type
		if sub[8] != eventClock {
			event[8] = errnoBadf
		}
	}
	putUint32(c, result, n)
	return errnoSuccess
}

// wait is the shortest wait among the subscriptions; zero when one of them
// is not a clock.
func (t Clocks) wait(subs []byte) time.Duration {
	shortest := time.Duration(-1)
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		if subs[8] != eventClock {
			return 0
		}
		clock := binary.LittleEndian.Uint32(subs[16:])
		ns := binary.LittleEndian.Uint64(subs[24:])
		if binary.LittleEndian.Uint16(subs[40:])&clockAbsolute != 0 {
			now := uint64(t.Monotonic())
			if clock == ClockRealtime {
				now = uint64(t.Wall())
			}
			ns -= min(now, ns)
		}
		wait := time.Duration(min(ns, uint64(time.Hour)))
		if shortest < 0 || wait < shortest {
			shortest = wait
		}
	}
	return shortest
}

// sleep waits for d or the end of the call, whichever is first.
func sleep(c *call.Call, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.Context().Done():
	}
}
