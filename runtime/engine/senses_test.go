package engine_test

import (
	"testing"

	"armature/runtime/engine"
)

// tape notes what WASI told one call, or tells another the same.
type tape struct {
	clocks []int64
	random [][]byte
	replay bool
}

func (t *tape) Clock(_ *engine.Call, _ uint32, ns int64) int64 {
	if !t.replay {
		t.clocks = append(t.clocks, ns)
		return ns
	}
	ns, t.clocks = t.clocks[0], t.clocks[1:]
	return ns
}

func (t *tape) Random(_ *engine.Call, b []byte) {
	if !t.replay {
		t.random = append(t.random, append([]byte(nil), b...))
		return
	}
	copy(b, t.random[0])
	t.random = t.random[1:]
}

// A Go guest that is told the same by WASI computes the same.
func TestSensesRepeatACall(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGoGuest(t))
	for _, export := range []string{"clock", "cryptorandom"} {
		senses := &tape{}
		run := func() uint64 {
			c := &engine.Call{Export: export, Senses: senses}
			if _, err := m.Call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			return c.Result
		}
		first := run()
		if len(senses.clocks)+len(senses.random) == 0 {
			t.Fatalf("%s asks WASI for nothing", export)
		}
		senses.replay = true
		if again := run(); again != first {
			t.Errorf("%s: %d, then %d", export, first, again)
		}
		if len(senses.clocks)+len(senses.random) != 0 {
			t.Errorf("%s asked for less the second time", export)
		}
	}
}
