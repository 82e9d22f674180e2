package extism

import (
	"encoding/json"
	"strconv"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// documents are the capabilities of armature1 as functions from one block of JSON to
// another, which is how kits for Extism have their authors declare host
// functions.
func documents() []engine.Import {
	var all []engine.Import
	for _, name := range abi.Capabilities() {
		all = append(all, user(name, types(l), func(k *kernel, c *engine.Call, s []uint64) {
			request := k.argument(c, s[0])
			if len(request) == 0 {
				request = []byte("{}")
			}
			answer, err := hostapi.Ask(c, name, request)
			s[0] = k.put(c, envelope(answer, err))
		}))
	}
	return append(all, user(abi.Throw, nil, throw))
}

func user(name string, results []engine.ValueType, fn func(k *kernel, c *engine.Call, s []uint64)) engine.Import {
	return engine.Import{Module: abi.ExtismUser, Name: abi.ExtismPrefix + name, Params: types(l), Results: results,
		Fn: func(c *engine.Call, s []uint64) { fn(of(c), c, s) }}
}

// envelope is {"data": answer}, or {"error": {"kind", "exc_type", "message"}}.
func envelope(answer []byte, f *fault.Error) []byte {
	if f == nil {
		b := make([]byte, 0, len(answer)+len(`{"data":}`))
		return append(append(append(b, `{"data":`...), answer...), '}')
	}
	b := strconv.AppendUint([]byte(`{"error":{"kind":`), uint64(f.Kind), 10)
	b = doctype.AppendString(append(b, `,"exc_type":`...), f.ExcType())
	b = doctype.AppendString(append(b, `,"message":`...), f.Message)
	return append(b, "}}"...)
}

// throw ends the call with the error in a block, of the form that answers have
// under error.
func throw(k *kernel, c *engine.Call, s []uint64) {
	text := k.argument(c, s[0])
	c.Spend(byteFuel * uint64(len(text)))
	var e struct {
		Kind int32 `json:"kind"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		c.Abort(fault.Wrap(fault.Trap, "", err, "armature_throw: expected a JSON object with kind, exc_type and message"))
	}
	hostapi.Throw(c, e.Kind, text)
}
