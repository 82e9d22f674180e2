package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/runtime/engine"
	"armature/runtime/wasmtest"
)

func TestLoadShares(t *testing.T) {
	e := newEngine(t, engine.Config{})
	wasm := mustGuest(t, "echo")
	modules := make([]*engine.Module, 8)
	var wg sync.WaitGroup
	for i := range modules {
		wg.Go(func() {
			m, err := e.Load(t.Context(), wasm)
			if err != nil {
				t.Error(err)
				return
			}
			modules[i] = m
		})
	}
	wg.Wait()
	for _, m := range modules {
		if m != modules[0] {
			t.Fatal("the same bytes are two modules")
		}
	}
	for _, m := range modules[1:] {
		m.Release()
	}
	if _, err := modules[0].Call(t.Context(), &engine.Call{Export: "count"}); err != nil {
		t.Error("a module that is still held does not run:", err)
	}
	modules[0].Release()
	_, err := modules[0].Call(t.Context(), &engine.Call{Export: "count"})
	var failed *engine.Error
	if !errors.As(err, &failed) || failed.Reason != engine.Unavailable {
		t.Error("a released module runs:", err)
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

func TestLoadRefuses(t *testing.T) {
	e := newEngine(t, engine.Config{MaxModule: 1 << 20, Init: engine.Limits{Fuel: 50_000_000}})
	tests := []struct{ name, src, want string }{
		{"imports", `(module (import "host" "nope" (func)) (import "host" "output" (func (param i32))))`, "host.nope is not offered"},
		{"invalid", `(module (func (result i32)))`, "not valid"},
		{"start traps", `(module (func $s (unreachable)) (start $s))`, "fails to initialise"},
		{"initialisation loops", `(module (func (export "_initialize") (loop $l (br $l))))`, "fails to initialise"},
		{"data outside", `(module (memory 1) (data (i32.const 65535) "ab"))`, "does not fit"},
		{"initialisation with parameters", `(module (func (export "_initialize") (param i64)))`, "it has to take and return nothing"},
		{"initialisation with a result", `(module (func (export "_initialize") (result i32) (i32.const 0)))`, "export _initialize takes [] and returns [i32]"},
		{"warming with a parameter", `(module (func (export "armature_warm") (param i32)))`, "export armature_warm takes [i32] and returns []"},
		{"resuming with a result", `(module (func (export "armature_resume") (result i32) (i32.const 0)))`, "export armature_resume takes [] and returns [i32]"},
		{"tail call", `(module (func $f (return_call $f)))`, "tail calls are not supported"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wasm, err := wasmtest.Assemble(test.src)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Load(t.Context(), wasm)
			if f := fault.From(err); f == nil || f.Kind != fault.Validation || !strings.Contains(f.Message, test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
	if _, err := e.Load(t.Context(), make([]byte, 2<<20)); fault.From(err).Kind != fault.Validation {
		t.Error("a module over the limit:", err)
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

// An endless initialisation takes what it may, and nobody's time but its own: whoever
// loads something else meanwhile need not wait. It is not tried again at once.
func TestEndlessInitialisation(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	e := newEngine(t, engine.Config{Init: engine.Limits{Fuel: 50_000_000}, Imports: []engine.Import{waitImport(entered, leave)}})
	wasm, err := wasmtest.Assemble(`(module (import "host" "wait" (func $wait)) (func (export "armature_warm") (call $wait) (loop $l (br $l))))`)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := e.Load(t.Context(), wasm)
		failed <- err
	}()
	<-entered
	load(t, e, waitGuest(t)) // of the same party
	close(leave)
	first := <-failed
	if fault.KindOf(first) != fault.Validation || !strings.Contains(fault.From(first).Message, "out of fuel") {
		t.Fatal("an endless initialisation:", first)
	}
	if _, err := e.Load(t.Context(), wasm); err != first { // it would wait to be entered
		t.Errorf("again: %v, want %v", err, first)
	}
}

// The time that a module has to initialise itself is its own: however long others have
// the slots, it does not fail for that.
func TestInitialisationMayWait(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	e := newEngine(t, engine.Config{Slots: 1, Init: engine.Limits{Wall: 20 * time.Millisecond}, Imports: []engine.Import{
		{Module: "host", Name: "hold", Fn: func(*engine.Call, []uint64) { close(entered); <-leave }}, // not Blocking: it keeps its slot
	}})
	long := `(local i32) (loop $l (br_if $l (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 1000000))))`
	assemble := func(src string) []byte {
		wasm, err := wasmtest.Assemble(src)
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	m := load(t, e, assemble(`(module (import "host" "hold" (func $hold)) (func (export "run") `+long+` (call $hold)))`))
	done := make(chan error, 2)
	go func() {
		_, err := m.Call(context.Background(), &engine.Call{Export: "run", Party: "a"})
		done <- err
	}()
	<-entered
	go func() {
		m, err := e.LoadFor(t.Context(), "b", assemble(`(module (func (export "_initialize") `+long+`))`))
		if err == nil {
			m.Release()
		}
		done <- err
	}()
	for e.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(30 * time.Millisecond) // longer than it has by itself
	close(leave)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A module that changes its table cannot be restored; each call makes its own
// instance, and still nothing survives.
func TestFreshInstances(t *testing.T) {
	wasm, err := wasmtest.Assemble(`(module (memory 1) (table 1 funcref)
		(global $g (mut i32) (i32.const 0)) (data (i32.const 0) "\07")
		(func (export "_initialize") (global.set $g (i32.const 1)))
		(func (export "count") (result i32)
			(table.set 0 (i32.const 0) (ref.null func))
			(global.set $g (i32.add (global.get $g) (i32.const 1)))
			(i32.store8 (i32.const 0) (i32.add (i32.load8_u (i32.const 0)) (i32.const 1)))
			(i32.add (global.get $g) (i32.load8_u (i32.const 0)))))`)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, engine.Config{})
	m := load(t, e, wasm)
	if ok, reason := m.Pristine(); ok || !strings.Contains(reason, "table.set") {
		t.Fatalf("pristine %t: %q", ok, reason)
	}
	for range 3 {
		c := &engine.Call{Export: "count"}
		usage, err := m.Call(t.Context(), c)
		if err != nil || c.Result != 10 || !usage.Fresh {
			t.Fatalf("counts %d, %v, %+v", c.Result, err, usage)
		}
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

func TestIdleInstancesClose(t *testing.T) {
	e := newEngine(t, engine.Config{IdleTrim: time.Hour, IdleClose: 2 * time.Hour})
	m := load(t, e, mustGuest(t, "misbehave"))
	healthy(t, m)
	e.Sweep(90 * time.Minute)
	if n := engine.Pristine(t, m); n != 1 {
		t.Errorf("%d instances after a trim", n)
	}
	healthy(t, m)
	e.Sweep(3 * time.Hour)
	if info := m.Inspect(); info.Live != 0 || e.Live() != 0 {
		t.Errorf("%+v", info)
	}
	healthy(t, m)
}

func TestCloseWaitsForCalls(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	e, err := engine.New(t.Context(), engine.Config{Imports: append(hostImports(), waitImport(entered, leave))})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Load(t.Context(), waitGuest(t))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), &engine.Call{Export: "run"})
		done <- err
	}()
	<-entered
	m.Release()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ended); !errors.Is(err, context.Canceled) {
		t.Fatal("closed under a running call:", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error("the call that ran while the engine closed:", err)
	}
}

func TestInstancesAreBounded(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	e := newEngine(t, engine.Config{Imports: []engine.Import{waitImport(entered, leave)}, MaxInstances: 1})
	m := load(t, e, waitGuest(t))
	done := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), &engine.Call{Export: "run"})
		done <- err
	}()
	<-entered
	_, err := m.Call(t.Context(), &engine.Call{Export: "run"})
	if fault.From(err).Kind != fault.Unavailable {
		t.Error("a second instance:", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Idle instances make room for others.
func TestIdleInstancesAreEvicted(t *testing.T) {
	e := newEngine(t, engine.Config{MaxInstances: 3})
	for range 2 {
		for _, name := range []string{"echo", "misbehave"} {
			m := load(t, e, mustGuest(t, name))
			for range 3 {
				if _, err := m.Call(t.Context(), &engine.Call{Export: m.Exports()[0].Name, State: &exchange{}}); err != nil && fault.KindOf(err) == fault.Unavailable {
					t.Fatal(err)
				}
			}
		}
	}
	if n := e.Live(); n > 3 {
		t.Errorf("%d instances", n)
	}
}

func TestHostPanicEndsOneCall(t *testing.T) {
	e := newEngine(t, engine.Config{Imports: []engine.Import{{Module: "host", Name: "wait", Fn: func(c *engine.Call, _ []uint64) {
		none := []int{}
		none[len(c.Export)]++ // out of range, as a host function with a bug may be
	}}}})
	m := load(t, e, waitGuest(t))
	for range 2 {
		_, err := m.Call(t.Context(), &engine.Call{Export: "run"})
		var failed *engine.Error
		if !errors.As(err, &failed) || failed.Reason != engine.HostPanic || fault.KindOf(err) != fault.Internal {
			t.Fatal(err)
		}
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d instances in doubt are kept", n)
	}
}

// waitImport is a host function that says it was entered and waits.
func waitImport(entered, leave chan struct{}) engine.Import {
	return engine.Import{Module: "host", Name: "wait", Fn: func(c *engine.Call, _ []uint64) {
		c.Blocking(func() {
			entered <- struct{}{}
			<-leave
		})
	}}
}

func waitGuest(tb testing.TB) []byte {
	tb.Helper()
	wasm, err := wasmtest.Assemble(`(module (import "host" "wait" (func $wait)) (func (export "run") (call $wait)))`)
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}
