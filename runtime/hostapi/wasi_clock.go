package hostapi

import (
	"bytes"

	"armature/core/fault"
	"armature/runtime/engine"
)

// What WASI tells a guest goes on the tape under these names, which no import of
// armature1 has.
const (
	wasiClock  = "wasi clock"
	wasiRandom = "wasi random"
)

// senses tells a call the time and random bytes of its trial, takes down what a
// recorded call is told, and tells a repeated one the same.
type senses struct{ st *State }

// Clock implements engine.Senses.
func (s senses) Clock(c *engine.Call, id uint32, ns int64) int64 {
	request := []byte{byte(id)}
	if s.st.replay == nil {
		ns -= int64(s.st.late())
		if s.st.record == nil {
			return ns
		}
		s.st.record.add(Answer{Import: wasiClock, Request: request, Time: ns})
		return ns
	}
	a, err := s.st.replay.turn(wasiClock, request)
	if err != nil {
		c.Abort(err.(ending).error)
	}
	return a.Time
}

// Random implements engine.Senses.
func (s senses) Random(c *engine.Call, b []byte) {
	if s.st.replay == nil {
		s.st.draw(b)
		if s.st.record == nil {
			return
		}
		s.st.record.add(Answer{Import: wasiRandom, Answer: bytes.Clone(b)})
		return
	}
	a, err := s.st.replay.turn(wasiRandom, nil)
	switch {
	case err != nil:
		c.Abort(err.(ending).error)
	case len(a.Answer) != len(b):
		c.Abort(fault.New(fault.Trap, "", "replay: the guest asks for %d random bytes, it was %d", len(b), len(a.Answer)))
	}
	copy(b, a.Answer)
}
