package engine_test

import (
	"errors"
	"testing"
	"time"

	"armature/runtime/engine"
	"armature/runtime/wasmtest"
)

// nested is a host function that calls an export of a module, in an instance of its
// own.
func nested(m **engine.Module, err *error) engine.Import {
	return engine.Import{Module: "host", Name: "nest", Fn: func(c *engine.Call, _ []uint64) {
		_, *err = (*m).Call(c.Context(), &engine.Call{Export: c.State.(string), State: c.State, Parent: c})
		if *err != nil {
			c.Abort(*err)
		}
	}}
}

const nestingGuest = `(module (import "host" "nest" (func $nest))
	(func (export "outer") (call $nest))
	(func (export "self") (call $nest))
	(func (export "work") (local $n i32) (local.set $n (i32.const 100000))
		(loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))`

func TestNestedCallsShareTheBudget(t *testing.T) {
	var inner error
	var m *engine.Module
	e := newEngine(t, engine.Config{Imports: []engine.Import{nested(&m, &inner)}})
	wasm, err := wasmtest.Assemble(nestingGuest)
	if err != nil {
		t.Fatal(err)
	}
	m = load(t, e, wasm)

	alone, err := m.Call(t.Context(), &engine.Call{Export: "work"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := m.Call(t.Context(), &engine.Call{Export: "outer", State: "work"})
	if err != nil || both.Fuel < alone.Fuel {
		t.Fatalf("outer %d, inner %d, %v", both.Fuel, alone.Fuel, err)
	}
	var failed *engine.Error
	_, err = m.Call(t.Context(), &engine.Call{Export: "outer", State: "work", Limits: engine.Limits{Fuel: alone.Fuel / 2}})
	if !errors.As(inner, &failed) || failed.Reason != engine.OutOfFuel {
		t.Errorf("a nested call over the outer budget: %v, %v", inner, err)
	}
	_, err = m.Call(t.Context(), &engine.Call{Export: "outer", State: "self"})
	if !errors.As(err, &failed) {
		t.Fatal("endless nesting:", err)
	}
	for errors.As(failed.Err, &failed) {
	}
	if failed.Reason != engine.TooDeep {
		t.Error("endless nesting ends with", failed)
	}
}

// With one slot, a guest that loops does not keep another from working, nor do
// several.
func TestLongCallsShareTheSlots(t *testing.T) {
	e := newEngine(t, engine.Config{Slots: 1})
	m := load(t, e, mustGuest(t, "misbehave"))
	work := load(t, e, mustGuest(t, "echo"))
	const hogs = 4
	done := make(chan error, hogs)
	for range hogs {
		go func() {
			_, err := m.Call(t.Context(), &engine.Call{Export: "spin", Limits: engine.Limits{Fuel: 150_000_000, Wall: time.Minute}})
			done <- err
		}()
	}
	// 3 million units: several turns, all of which it must get before the hogs end.
	usage, err := work.Call(t.Context(), &engine.Call{Export: "sieve", Limits: engine.Limits{Wall: time.Minute}})
	if err != nil || usage.Yields < 2 {
		t.Errorf("%v, %+v", err, usage)
	}
	if len(done) == hogs {
		t.Error("all hogs ended before a short call did")
	}
	for range hogs {
		var failed *engine.Error
		if err := <-done; !errors.As(err, &failed) || failed.Reason != engine.OutOfFuel {
			t.Error(err)
		}
	}
	if n := e.Waiting(); n != 0 {
		t.Errorf("%d calls wait for a slot", n)
	}
}
