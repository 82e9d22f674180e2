package quickjs

import (
	"encoding/json"
	"slices"

	"armature/runtime/engine"
)

// rejection is a promise that was rejected while nobody listened.
type rejection struct {
	promise uint64 // the value
	reason  uint64 // a handle
}

// rejected is told of a promise that is rejected without anybody listening, and
// told again when somebody begins to: (promise, reason, whether it is handled).
// Nothing of the script may run in here, so what is kept is looked at later.
func rejected(c *engine.Call, stack []uint64) {
	promise, reason := vm{c}.uint64(uint32(stack[0])), uint64(uint32(stack[1]))
	list, _ := c.Memo.([]rejection)
	if uint32(stack[2]) != 0 {
		list = slices.DeleteFunc(list, func(r rejection) bool { return r.promise == promise })
	} else {
		list = append(list, rejection{promise, reason}) // both handles keep what they are of
	}
	c.Memo = list
}

// unhandled is the error of the first promise that was rejected and that nobody
// has listened to by the end of the call. What it stands for has failed without
// the method's knowing, so the method has not succeeded.
func (p *program) unhandled(v vm) error {
	list, _ := v.c.Memo.([]rejection)
	if len(list) == 0 {
		return nil
	}
	described := v.callFunction(p.describe, p.nothing, list[0].reason)
	var e thrownError
	text := v.string(described)
	v.c.Spend(describedFuel * uint64(len(text)))
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	return e.fault(p.source)
}
