package hostapi

import (
	"encoding/json"
	"errors"
	"strings"

	"armature/core/fault"
	"armature/runtime/engine"
)

// unavailable is what a function that needs a call answers while the guest
// initialises itself.
var unavailable = result(-int32(fault.Unavailable))

// result is an i32 as it lies on the stack.
func result(n int32) uint64 { return uint64(uint32(n)) }

// input copies the start of the call's input. The guest may ask again.
func input(c *engine.Call, stack []uint64) {
	st := of(c)
	if st == nil {
		stack[0] = unavailable
		return
	}
	deliver(c, stack[0], stack[1], st.input)
	stack[0] = result(int32(len(st.input)))
}

// deliver writes as much of b as the guest has room for and says how much that
// was. A range of length 0 is not looked at.
func deliver(c *engine.Call, ptr, room uint64, b []byte) int {
	n := min(int(uint32(room)), len(b))
	if n > 0 {
		c.Write(uint32(ptr), b[:n])
	}
	return n
}

// receive is the range a guest hands over; empty for one of length 0.
func receive(c *engine.Call, ptr, length uint64) []byte {
	if uint32(length) == 0 {
		return nil
	}
	return c.Read(uint32(ptr), uint32(length))
}

// output keeps a copy of the result; the last one counts.
func output(c *engine.Call, stack []uint64) {
	st := of(c)
	if st == nil {
		return
	}
	st.bound(c, uint64(uint32(stack[1])))
	st.output = append(st.output[:0], receive(c, stack[0], stack[1])...)
}

// bound ends a call whose result is too long, and has it pay for one that is not.
func (st *State) bound(c *engine.Call, length uint64) {
	if limit := st.limits.Output; length > uint64(limit) {
		c.Abort(fault.New(fault.Exhausted, "", "The result is over %d bytes", limit))
	}
	c.Spend(byteFuel * length)
}

// take delivers what is left of the latest answer.
func take(c *engine.Call, stack []uint64) {
	st := of(c)
	if st == nil {
		stack[0] = unavailable
		return
	}
	left := st.answer[st.taken:]
	st.taken += deliver(c, stack[0], stack[1], left)
	stack[0] = result(int32(len(left)))
}

// throw ends the call with the guest's error.
func throw(c *engine.Call, stack []uint64) {
	if of(c) == nil {
		return
	}
	end(c, int32(uint32(stack[0])), func() []byte { return receive(c, stack[1], stack[2]) })
}

// end ends the call with an error that the guest describes.
func end(c *engine.Call, kind int32, text func() []byte) {
	if kind < 0 || kind > 255 || !fault.Kind(kind).Valid() {
		c.Abort(fault.New(fault.Trap, "", "throw: there is no error kind %d", kind))
	}
	b := text()
	pay(c, b)
	f, err := thrown(fault.Kind(kind), b)
	if err != nil {
		c.Abort(err)
	}
	c.Abort(f)
}

// maxText bounds the message of an error, and maxType its exc_type: they travel
// into logs and answers.
const (
	maxText = 64 << 10
	maxType = 140
)

// thrown reads the guest's description of an error. The text of an Internal one
// is for the log: the client learns nothing of it.
func thrown(kind fault.Kind, text []byte) (*fault.Error, error) {
	var body errorBody
	if len(text) > 0 {
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, fault.Wrap(fault.Trap, "", err, "throw: expected a JSON object with exc_type and message")
		}
	}
	f := &fault.Error{Kind: kind, Type: cut(body.Type, maxType), Message: cut(body.Message, maxText)}
	if kind == fault.Internal {
		f.Err, f.Message = errors.New(f.Message), "Something went wrong in a plugin"
	}
	return f, nil
}

// errorBody is an error as it crosses the boundary.
type errorBody struct {
	Type    string `json:"exc_type"`
	Message string `json:"message"`
}

// cut shortens text to at most n bytes, without half a character at its end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(strings.Clone(s[:n]), "")
}
