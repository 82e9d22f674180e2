package instance_test

import (
	"context"
	"errors"
	"testing"

	"armature/runtime/engine/internal/enginetest"
	"armature/runtime/engine/internal/instance"
)

const guest = `(module
  (memory (export "memory") 1 64)
  (global $count (mut i32) (i32.const 0))
  (func (export "add") (param $a i32) (param $b i32) (result i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.add (local.get $a) (local.get $b)))
  (func (export "down") (param $n i32)
    (loop $again (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "count") (result i32) (global.get $count))
  (func (export "grow") (param $pages i32) (result i32) (memory.grow (local.get $pages))))`

const enough = 1 << 20 // fuel

// started is an instance that may run.
func started(t *testing.T, in *instance.Instance) *instance.Instance {
	t.Helper()
	in.Begin(64*enginetest.Page, nil)
	in.Meter.Give(0, enough, 100)
	return in
}

func run(t *testing.T, in *instance.Instance, export string, args ...uint64) uint64 {
	t.Helper()
	result, err := in.Run(t.Context(), export, args...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRun(t *testing.T) {
	in := started(t, enginetest.Instance(t, enginetest.Source(t, guest)))
	if got := run(t, in, "add", 3, 4); got != 7 {
		t.Errorf("3 and 4 are %d", got)
	}
	if got := run(t, in, "count"); got != 1 {
		t.Errorf("it was called %d times", got)
	}
	if _, err := in.Run(t.Context(), "memory"); !errors.Is(err, instance.ErrNoFunction) {
		t.Errorf("a memory is run: %v", err)
	}
	in.DropStack("add")
	if got := run(t, in, "add", 5, 6); got != 11 {
		t.Errorf("with another stack 5 and 6 are %d", got)
	}
}

// Whatever a call has done to memory and globals, none of it is there for the next.
func TestReset(t *testing.T) {
	source := enginetest.Source(t, guest)
	first := started(t, enginetest.Instance(t, source))
	run(t, first, "add", 1, 1)
	if !first.Write(8, []byte("kept")) {
		t.Fatal("it has no memory")
	}
	snapshot, err := first.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = snapshot.Close() })
	if snapshot.Size() != enginetest.Page || string(snapshot.Contents()[8:12]) != "kept" || snapshot.Globals()[0] != 1 {
		t.Errorf("the snapshot has %d bytes and the globals %v", snapshot.Size(), snapshot.Globals())
	}
	in, err := source.New(context.Background(), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	for round := range 3 {
		started(t, in)
		if b, _ := in.Read(8, 4); string(b) != "kept" || run(t, in, "count") != 1 || in.Size() != enginetest.Page {
			t.Fatalf("round %d begins with %q and %d bytes", round, b, in.Size())
		}
		run(t, in, "add", 1, 1)
		in.Write(8, []byte("lost"))
		if got := run(t, in, "grow", 3); got != 1 || in.Peak() != 4*enginetest.Page {
			t.Fatalf("the memory grew from %d pages to %d bytes", got, in.Peak())
		}
		in.Write(4*enginetest.Page-4, []byte("lost"))
		if _, ok, err := in.Reset(); err != nil || !ok {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// What lies outside of the memory is no guest's, and what grows past a limit is told.
func TestMemory(t *testing.T) {
	in := enginetest.Instance(t, enginetest.Source(t, guest))
	in.Begin(2*enginetest.Page, nil)
	in.Meter.Give(0, enough, 100)
	for _, at := range []uint32{enginetest.Page - 3, enginetest.Page, 1<<32 - 1} {
		if _, ok := in.Read(at, 4); ok || in.Write(at, make([]byte, 4)) {
			t.Errorf("4 bytes at %d are in a page", at)
		}
	}
	if got := int32(run(t, in, "grow", 1)); got != 1 || in.Refused() != 0 {
		t.Errorf("to its limit: %d, %d bytes refused", got, in.Refused())
	}
	if got := int32(run(t, in, "grow", 1)); got != -1 || in.Refused() != 3*enginetest.Page {
		t.Errorf("past its limit: %d, %d bytes refused", got, in.Refused())
	}
	in.Confine(3 * enginetest.Page)
	if got := int32(run(t, in, "grow", 1)); got != 2 {
		t.Errorf("with another limit: %d", got)
	}

	none := enginetest.Instance(t, enginetest.Source(t, `(module (func (export "nothing")))`))
	if _, ok := none.Read(0, 0); ok || none.Size() != 0 || none.Peak() != 0 || none.Kept() != 0 || none.Trim() != nil {
		t.Error("a module without memory has some")
	}
}

// The same work costs the same, and a nested call is paid for by who made it.
func TestMeter(t *testing.T) {
	source := enginetest.Source(t, guest)
	var costs []uint64
	for range 2 {
		in := started(t, enginetest.Instance(t, source))
		run(t, in, "down", 1000)
		costs = append(costs, in.Meter.Used())
	}
	if costs[0] < 1000 || costs[0] != costs[1] {
		t.Errorf("the same call costs %v", costs)
	}
	in := enginetest.Instance(t, source)
	in.Meter.Give(10, 1000, 5)
	if left, ok := in.Meter.Depth(); in.Meter.Used() != 10 || in.Meter.Empty() || left != 5 || !ok {
		t.Errorf("at first: %d used, %d levels left", in.Meter.Used(), left)
	}
	in.Meter.Charge(999)
	if in.Meter.Empty() {
		t.Error("one unit is nothing")
	}
	in.Meter.Charge(6)
	if left, _ := in.Meter.Depth(); !in.Meter.Empty() || in.Meter.Used() != 1015 || left != 5 {
		t.Errorf("overdrawn: %d used, %d levels left", in.Meter.Used(), left)
	}
}
