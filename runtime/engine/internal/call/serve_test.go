package call_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/runtime/engine/internal/admission"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/enginetest"
)

const guest = `(module
  (import "host" "double" (func $double (param i32) (result i32)))
  (import "host" "read" (func $read (param i32 i32)))
  (import "host" "refuse" (func $refuse))
  (memory (export "memory") 1 64)
  (func (export "eight") (param $n i32) (result i32) (call $double (call $double (call $double (local.get $n)))))
  (func (export "down") (param $n i32)
    (loop $again (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func $outer (export "trap") (call $inner))
  (func $inner (unreachable))
  (func (export "spin") (loop $again (br $again)))
  (func $recurse (export "recurse") (param $n i32) (result i32)
    (i32.add (call $recurse (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))
  (func (export "far") (call $read (i32.const 65533) (i32.const 4)))
  (func (export "refused") (call $refuse))
  (func (export "fill") (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)))`

var errRefused = errors.New("not today")

func host() []call.Import {
	i32 := []call.ValueType{call.I32}
	return []call.Import{
		{Module: "host", Name: "double", Params: i32, Results: i32, Fn: func(_ *call.Call, stack []uint64) { stack[0] *= 2 }},
		{Module: "host", Name: "read", Params: []call.ValueType{call.I32, call.I32}, Fn: func(c *call.Call, stack []uint64) {
			c.Read(uint32(stack[0]), uint32(stack[1]))
		}},
		{Module: "host", Name: "refuse", Fn: func(c *call.Call, _ []uint64) { c.Abort(errRefused) }},
	}
}

// subject is a module whose guest is never run in the tests that need no guest.
func subject() *call.Subject {
	return &call.Subject{Binary: &call.Binary{}, Host: &call.Host{
		Slots: admission.New(1), Defaults: call.DefaultLimits(), Maximum: call.MaxLimits(), Log: slog.New(slog.DiscardHandler),
	}}
}

// served runs an export of the guest in an instance of its own.
func served(ctx context.Context, t *testing.T, c *call.Call) (call.Usage, *call.Error) {
	t.Helper()
	in := enginetest.Instance(t, enginetest.Source(t, guest, host()...))
	if err := call.Begin(ctx, c, subject()); err != nil {
		t.Fatal(err)
	}
	failed := call.Serve(c, in, 0, true)
	return call.End(c), failed
}

func TestServe(t *testing.T) {
	c := &call.Call{Export: "eight", Arg: 5}
	usage, failed := served(t.Context(), t, c)
	if failed != nil || c.Result != 40 {
		t.Fatalf("%d, %v", c.Result, failed)
	}
	if usage.HostCalls != 3 || usage.MemoryPeak != enginetest.Page {
		t.Errorf("it cost %+v", usage)
	}
	one, _ := served(t.Context(), t, &call.Call{Export: "down", Arg: 1_000_000})
	other, _ := served(t.Context(), t, &call.Call{Export: "down", Arg: 1_000_000})
	if one.Fuel < 1_000_000 || one.Fuel != other.Fuel || one.Yields == 0 || one.Yields != other.Yields {
		t.Errorf("the same call costs %+v and %+v", one, other)
	}
}

// Each way to fail has a reason of its own, and is told in the platform's terms.
func TestFailures(t *testing.T) {
	tests := []struct {
		export string
		limits call.Limits
		reason call.Reason
		kind   fault.Kind
		detail string
	}{
		{"nothing", call.Limits{}, call.BadExport, fault.Trap, "no such function"},
		{"trap", call.Limits{}, call.Trap, fault.Trap, "unreachable"},
		{"spin", call.Limits{Fuel: 600_000}, call.OutOfFuel, fault.Exhausted, "600000 units"},
		{"spin", call.Limits{Wall: 20 * time.Millisecond}, call.Deadline, fault.Timeout, "20ms"},
		{"recurse", call.Limits{Depth: 50}, call.TooDeep, fault.Exhausted, "50 nested calls"},
		{"eight", call.Limits{HostCalls: 2}, call.HostCalls, fault.Exhausted, "more than 2"},
		{"far", call.Limits{}, call.BadPointer, fault.Trap, "4 bytes at address 65533"},
		{"fill", call.Limits{Memory: 3 * enginetest.Page}, call.OutOfMemory, fault.Exhausted, "262144 bytes asked for"},
		{"eight", call.Limits{Memory: enginetest.Page - 1}, call.OutOfMemory, fault.Exhausted, "starts with more memory"},
	}
	for _, tt := range tests {
		t.Run(tt.export+" "+tt.reason.String(), func(t *testing.T) {
			_, failed := served(t.Context(), t, &call.Call{Export: tt.export, Limits: tt.limits})
			if failed == nil || failed.Reason != tt.reason || !strings.Contains(failed.Detail, tt.detail) {
				t.Fatalf("it says %v", failed)
			}
			var f *fault.Error
			if !errors.As(error(failed), &f) || f.Kind != tt.kind || !strings.Contains(f.Message, tt.detail) {
				t.Errorf("in the platform's terms: %v", f)
			}
		})
	}
}

func TestTrapNamesFunctions(t *testing.T) {
	_, failed := served(t.Context(), t, &call.Call{Export: "trap"})
	if failed == nil || len(failed.Stack) != 2 || failed.Fault().Trace == nil {
		t.Fatalf("the stack is %q", failed.Stack)
	}
}

// What a host function ends a call with reaches the caller as it was.
func TestAbort(t *testing.T) {
	_, failed := served(t.Context(), t, &call.Call{Export: "refused"})
	if failed == nil || failed.Reason != call.Aborted || !errors.Is(failed, errRefused) {
		t.Errorf("it says %v", failed)
	}
}

func TestCallerLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, failed := served(ctx, t, &call.Call{Export: "spin"})
	if failed == nil || failed.Reason != call.Canceled || !errors.Is(failed, context.Canceled) {
		t.Errorf("it says %v", failed)
	}
}

// A nested call has no more than its parent has left, and is paid for by it.
func TestNestedCall(t *testing.T) {
	s := subject()
	parent := &call.Call{Limits: call.Limits{Fuel: 1000, Wall: time.Minute}, Party: "site"}
	if err := call.Begin(t.Context(), parent, s); err != nil {
		t.Fatal(err)
	}
	child := &call.Call{Parent: parent, Limits: call.Limits{Fuel: 1_000_000, Wall: time.Hour}}
	if err := call.Begin(t.Context(), child, s); err != nil {
		t.Fatal(err)
	}
	if left := child.Remaining(); left.Fuel != 1000 || !child.Deadline().Equal(parent.Deadline()) {
		t.Errorf("it may use %d until %s; the parent until %s", left.Fuel, child.Deadline(), parent.Deadline())
	}
	call.End(child)

	// Modules that call each other come to an end.
	depth, last := 1, child
	var refused *call.Error
	for refused == nil && depth < 100 {
		next := &call.Call{Parent: last}
		if refused = call.Begin(t.Context(), next, s); refused == nil {
			depth, last = depth+1, next
		}
	}
	if refused == nil || refused.Reason != call.TooDeep || depth != 8 {
		t.Errorf("after %d: %v", depth, refused)
	}
}

// The earliest moment by which a call must have ended is the one it is ended by, and
// its error says what that was for.
func TestDeadlines(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	soon := time.Now().Add(time.Minute)
	c := &call.Call{Due: call.Due{At: soon, Allowed: time.Minute, For: "a lock may be kept for"}, Limits: call.Limits{Wall: 2 * time.Minute}}
	s := subject()
	s.Maximum.Wall = 0
	if err := call.Begin(ctx, c, s); err != nil {
		t.Fatal(err)
	}
	defer call.End(c)
	if !c.Deadline().Equal(soon) || !strings.Contains(c.Overdue().Error(), "a lock may be kept for 1m0s") {
		t.Errorf("until %s: %v", c.Deadline(), c.Overdue())
	}
	c.Until(call.Due{At: soon.Add(time.Second)})
	if !c.Deadline().Equal(soon) {
		t.Error("it was given more time")
	}
	if at, ok := c.Context().Deadline(); !ok || !at.Equal(soon) {
		t.Errorf("its context ends at %s", at)
	}
}

// What a guest prints arrives line by line, to the last one.
func TestOutput(t *testing.T) {
	var lines []string
	c := &call.Call{OnOutput: func(_ *call.Call, stderr bool, line []byte) {
		if stderr {
			line = append([]byte("! "), line...)
		}
		lines = append(lines, string(line))
	}}
	in := enginetest.Instance(t, enginetest.Source(t, guest, host()...))
	if err := call.Begin(t.Context(), c, subject()); err != nil {
		t.Fatal(err)
	}
	call.Attach(c, in, 0)
	call.Print(c, false, []byte("one\nt"))
	call.Print(c, true, []byte("three\n"))
	call.Print(c, false, []byte("wo"))
	call.Detach(c)
	call.End(c)
	if want := []string{"one", "! three", "two"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
