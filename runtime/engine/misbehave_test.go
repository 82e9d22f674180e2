package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"armature/core/fault"
	"armature/runtime/engine"
	"armature/runtime/wasmtest"
)

func mustGuest(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := wasmtest.Module(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// misbehaviours lists every way a guest can go wrong and what must come of it.
var misbehaviours = []struct {
	export string
	limits engine.Limits
	reason engine.Reason
	kind   fault.Kind
}{
	{"spin", engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"spin", engine.Limits{Fuel: 1 << 40, Wall: 5 * time.Millisecond}, engine.Deadline, fault.Timeout},
	{"spin_indirect", engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"tree", engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"tree", engine.Limits{Fuel: 1 << 40, Wall: 5 * time.Millisecond}, engine.Deadline, fault.Timeout},
	{"recurse", engine.Limits{}, engine.TooDeep, fault.Exhausted},
	{"recurse", engine.Limits{Depth: 50}, engine.TooDeep, fault.Exhausted},
	{"fat", engine.Limits{}, engine.TooDeep, fault.Exhausted},
	{"fill", engine.Limits{Fuel: 50_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"fill", engine.Limits{Fuel: 1 << 40, Wall: 5 * time.Millisecond}, engine.Deadline, fault.Timeout},
	{"copy", engine.Limits{Fuel: 50_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"hog", engine.Limits{Memory: 4 << 20}, engine.OutOfMemory, fault.Exhausted},
	{"hog", engine.Limits{}, engine.OutOfMemory, fault.Exhausted},
	{"grow_much", engine.Limits{}, engine.OutOfMemory, fault.Exhausted},
	{"lie_output", engine.Limits{}, engine.BadPointer, fault.Trap},
	{"lie_wrap", engine.Limits{}, engine.BadPointer, fault.Trap},
	{"lie_huge", engine.Limits{}, engine.BadPointer, fault.Trap},
	{"lie_input", engine.Limits{}, engine.BadPointer, fault.Trap},
	{"lie_wasi", engine.Limits{}, engine.BadPointer, fault.Trap},
	{"unreachable", engine.Limits{}, engine.Trap, fault.Trap},
	{"divide", engine.Limits{}, engine.Trap, fault.Trap},
	{"outside", engine.Limits{}, engine.Trap, fault.Trap},
	{"fill_outside", engine.Limits{}, engine.Trap, fault.Trap},
	{"copy_outside", engine.Limits{}, engine.Trap, fault.Trap},
	{"null_call", engine.Limits{}, engine.Trap, fault.Trap},
	{"throws", engine.Limits{}, engine.Aborted, fault.Conflict},
	{"exit_one", engine.Limits{}, engine.Exited, fault.Trap},
	{"flood", engine.Limits{}, engine.HostCalls, fault.Exhausted},
	{"flood_wasi", engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"flood_log", engine.Limits{Fuel: 5_000_000}, engine.OutOfFuel, fault.Exhausted},
	{"no_such_export", engine.Limits{}, engine.BadExport, fault.Trap},
}

func TestMisbehaviour(t *testing.T) {
	eachMemory(t, func(t *testing.T, memory string) {
		m := load(t, newEngine(t, engine.Config{Memory: memory}), mustGuest(t, "misbehave"))
		if ok, reason := m.Pristine(); !ok {
			t.Fatal(reason)
		}
		for _, test := range misbehaviours {
			t.Run(test.export, func(t *testing.T) {
				input := make([]byte, 4096)
				usage, err := m.Call(t.Context(), &engine.Call{
					Export: test.export, Limits: test.limits, State: &exchange{in: input},
					OnOutput: func(*engine.Call, bool, []byte) {},
				})
				var e *engine.Error
				if !errors.As(err, &e) || e.Reason != test.reason {
					t.Fatalf("%v; want %v; usage %+v", err, test.reason, usage)
				}
				if got := fault.From(err).Kind; got != test.kind {
					t.Errorf("kind %d", got)
				}
				healthy(t, m)
			})
		}
	})
}

// healthy makes sure that a call finds nothing of the ones before.
func healthy(t *testing.T, m *engine.Module) {
	t.Helper()
	c := &engine.Call{Export: "healthy"}
	if _, err := m.Call(t.Context(), c); err != nil || c.Result != 42 {
		t.Fatalf("healthy answers %d, %v", c.Result, err)
	}
}

// eachMemory runs a test with every way to make memories that this system has.
func eachMemory(t *testing.T, test func(t *testing.T, memory string)) {
	for _, memory := range []string{"scan", "pagemap", "copy", "heap"} {
		t.Run(memory, func(t *testing.T) {
			e, err := engine.New(t.Context(), engine.Config{Memory: memory})
			if err != nil {
				t.Skip(err)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			test(t, memory)
		})
	}
}

func TestExitZeroSucceeds(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGuest(t, "misbehave"))
	if _, err := m.Call(t.Context(), &engine.Call{Export: "exit_zero"}); err != nil {
		t.Fatal(err)
	}
	healthy(t, m)
}

func TestThrowComesBackAsItself(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGuest(t, "misbehave"))
	_, err := m.Call(t.Context(), &engine.Call{Export: "throws", Arg: 9})
	var th thrown
	if !errors.As(err, &th) || th != 9 {
		t.Fatal(err)
	}
	f := fault.From(err)
	if f.Kind != fault.Conflict || len(f.Trace) != 1 || f.Trace[0] != "throws" {
		t.Errorf("fault %+v", f)
	}
}

func TestTrapNamesTheGuestsFunctions(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGuest(t, "misbehave"))
	_, err := m.Call(t.Context(), &engine.Call{Export: "unreachable"})
	var e *engine.Error
	if !errors.As(err, &e) || len(e.Stack) != 2 || e.Stack[0] != "inner" || e.Stack[1] != "unreachable" {
		t.Fatalf("%+v", e)
	}
}

func TestCanceledCallerEndsTheCall(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGuest(t, "misbehave"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.Call(ctx, &engine.Call{Export: "spin", Limits: engine.Limits{Fuel: 1 << 40}})
	var e *engine.Error
	if !errors.As(err, &e) || e.Reason != engine.Canceled {
		t.Fatal(err)
	}
	healthy(t, m)
}

func TestGrownMemoryShrinks(t *testing.T) {
	eachMemory(t, func(t *testing.T, memory string) {
		m := load(t, newEngine(t, engine.Config{Memory: memory}), mustGuest(t, "misbehave"))
		for _, pages := range []int32{1, 15, 300, 2, 1000, 1} {
			c := &engine.Call{Export: "grow", Arg: pages}
			usage, err := m.Call(t.Context(), c)
			if err != nil || c.Result != uint64(pages)+1 {
				t.Fatalf("%d pages: %d, %v", pages, c.Result, err)
			}
			if want := uint64(pages+1) << 16; usage.MemoryPeak != want {
				t.Errorf("peak %d; want %d", usage.MemoryPeak, want)
			}
			healthy(t, m)
		}
	})
}

// The same call costs the same fuel, whatever ran before and however memory is
// made.
func TestFuelIsDeterministic(t *testing.T) {
	var first engine.Usage
	eachMemory(t, func(t *testing.T, memory string) {
		m := load(t, newEngine(t, engine.Config{Memory: memory}), mustGuest(t, "echo"))
		for range 5 {
			usage, err := m.Call(t.Context(), &engine.Call{Export: "sieve"})
			if err != nil {
				t.Fatal(err)
			}
			if first.Fuel == 0 {
				first = usage
			}
			if usage.Fuel != first.Fuel || usage.Fuel < 200_000 {
				t.Fatalf("fuel %d; before %d", usage.Fuel, first.Fuel)
			}
			if _, err := m.Call(t.Context(), &engine.Call{Export: "loop", Arg: 12345}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
