package engine_test

import (
	"errors"
	"testing"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/engine"
)

// TestMemoryIsCharged: what a guest grows by is charged before it has it, to whom the
// call is made for, and is given back when the call ends. Who finds none is told that
// the server is short, and not that the guest's limit is reached.
func TestMemoryIsCharged(t *testing.T) {
	eachMemory(t, func(t *testing.T, memory string) {
		a := account.New(64<<20, nil)
		m := load(t, newEngine(t, engine.Config{Memory: memory, Account: a}), mustGuest(t, "misbehave"))
		guests := func() int64 { return a.Stats().Held[account.Guest] }
		call := func(export string, pages int32, limit uint64) (*engine.Call, error) {
			var who account.Call
			a.Begin(&who, "one", nil, false)
			defer who.End()
			before := guests()
			c := &engine.Call{Export: export, Arg: pages, Limits: engine.Limits{Memory: limit}, State: &exchange{}}
			_, err := m.Call(account.With(t.Context(), &who), c)
			if after := guests(); after-before > 4<<20 && memory != "heap" { // but what the idle instance keeps
				t.Errorf("%s: %d bytes are held beside %d", export, after-before, before)
			}
			return c, err
		}
		if c, err := call("grow", 100, 0); err != nil || c.Result < 100 {
			t.Fatalf("%d, %v", c.Result, err)
		}
		if a.Stats().Peak < 100<<16 {
			t.Errorf("the peak is %d", a.Stats().Peak)
		}
		if _, err := call("hog", 0, 16<<20); fault.KindOf(err) != fault.Exhausted {
			t.Errorf("over its limit: %v", err)
		}
		if _, err := call("hog", 0, 60<<20); fault.KindOf(err) != fault.TooLarge {
			t.Errorf("over what one call may have: %v", err)
		}
		var other account.Call
		a.Begin(&other, "one", nil, false)
		if err := other.Take(t.Context(), account.Body, 31<<20); err != nil {
			t.Fatal(err)
		}
		_, err := call("hog", 0, 30<<20)
		var short account.Refusal
		if fault.KindOf(err) != fault.Unavailable || !errors.As(fault.From(err), &short) {
			t.Errorf("beside another who holds much: %v", err)
		}
		healthy(t, m)
	})
}

// TestIdleInstancesGoFirst: what idle instances keep is given up as soon as somebody
// needs it.
func TestIdleInstancesGoFirst(t *testing.T) {
	eachMemory(t, func(t *testing.T, memory string) {
		a := account.New(16<<20, nil)
		m := load(t, newEngine(t, engine.Config{Memory: memory, Account: a}), mustGuest(t, "misbehave"))
		c := &engine.Call{Export: "grow", Arg: 31, State: &exchange{}}
		if _, err := m.Call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		before := a.Stats().Held[account.Guest]
		if before == 0 {
			t.Skip("it keeps nothing")
		}
		var first, second account.Call
		a.Begin(&first, "one", nil, false)
		a.Begin(&second, "two", nil, false)
		for _, who := range []*account.Call{&first, &second} {
			if err := who.Take(t.Context(), account.Body, 15<<19); err != nil {
				t.Fatal(err)
			}
		}
		if after := a.Stats().Held[account.Guest]; after != 0 {
			t.Errorf("idle instances hold %d bytes, %d before", after, before)
		}
		healthy(t, m)
	})
}
