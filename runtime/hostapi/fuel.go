package hostapi

import (
	"bytes"

	"armature/runtime/engine"
)

// What the host takes for what it does with JSON: fuel for each byte, and for each
// value, which becomes one of Go's.
const (
	byteFuel  = 8
	valueFuel = 400
)

// pay takes the fuel for reading JSON before it is read. There are about as many
// values as commas, those in texts included.
func pay(c *engine.Call, text []byte) {
	c.Spend(byteFuel*uint64(len(text)) + valueFuel*uint64(bytes.Count(text, comma)))
}

var comma = []byte(",")
