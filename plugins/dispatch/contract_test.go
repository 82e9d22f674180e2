package dispatch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/runtime/wasmtest"
)

// measured uses as much of one thing as its argument n says.
const measured = `(module
  (import "armature1" "input" (func $input (param i32 i32) (result i32)))
  (import "armature1" "output" (func $output (param i32 i32)))
  (import "armature1" "log" (func $log (param i32 i32 i32)))
  (import "armature1" "now" (func $now (result i64)))
  (memory (export "memory") 2)

  (func $n (result i32) (local $i i32) (local $v i32) (local $c i32)
    (drop (call $input (i32.const 0) (i32.const 64)))
    (loop $next
      (local.set $c (i32.sub (i32.load8_u (local.get $i)) (i32.const 48)))
      (if (i32.lt_u (local.get $c) (i32.const 10))
        (then (local.set $v (i32.add (i32.mul (local.get $v) (i32.const 10)) (local.get $c)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 64))))
    (local.get $v))

  (func $hold (param $bytes i32)
    (if (i32.lt_s (memory.grow (i32.sub (i32.shr_u (local.get $bytes) (i32.const 16)) (memory.size))) (i32.const 0))
      (then (unreachable))))
  (func (export "memory.use") (param i32) (call $hold (call $n)))

  (func (export "output.use") (param i32) (local $n i32)
    (local.set $n (call $n))
    (call $hold (i32.add (local.get $n) (i32.const 262144)))
    (memory.fill (i32.const 65536) (i32.const 120) (local.get $n))
    (i32.store8 (i32.const 65536) (i32.const 34))
    (i32.store8 (i32.add (i32.const 65535) (local.get $n)) (i32.const 34))
    (call $output (i32.const 65536) (local.get $n)))

  (func (export "input.use") (param i32))

  (func (export "log.use") (param i32) (local $n i32)
    (local.set $n (i32.shr_u (call $n) (i32.const 10)))
    (memory.fill (i32.const 1024) (i32.const 120) (i32.const 1024))
    (loop $next
      (call $log (i32.const 1) (i32.const 1024) (i32.const 1024))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))))

  (func (export "host_calls.use") (param i32) (local $n i32)
    (local.set $n (i32.sub (call $n) (i32.const 1))) ;; the input is one
    (loop $next
      (drop (call $now))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))))

  (func $dive (param $n i32) (result i32)
    (if (result i32) (local.get $n)
      (then (i32.add (call $dive (i32.sub (local.get $n) (i32.const 1))) (i32.const 1)))
      (else (i32.const 0))))
  (func (export "depth.use") (param i32) (drop (call $dive (i32.sub (call $n) (i32.const 2))))) ;; itself, and the last
)`

// TestTheContractsLimits: the numbers of contract.json are what a plugin gets that
// says nothing, and what one gets that asks for the most, measured in the engine.
func TestTheContractsLimits(t *testing.T) {
	text, err := os.ReadFile("../../sdk/abi/contract.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Limits []struct {
			Name          string
			Default, Most int
		}
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	wasm, err := wasmtest.Assemble(measured)
	if err != nil {
		t.Fatal(err)
	}
	most, methods := m{}, []m{}
	for _, l := range contract.Limits {
		most[l.Name] = l.Most
		if strings.Contains(measured, `"`+l.Name+`.use"`) {
			methods = append(methods, m{"path": "acme.measured." + l.Name, "export": l.Name + ".use"})
		}
	}
	var log bytes.Buffer
	s := newSiteWith(t, func(c *dispatch.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, limits := range []m{nil, most} {
		manifest := m{"name": "acme.measured", "version": fmt.Sprint(len(limits)), "abi": 1, "methods": methods}
		if limits != nil {
			manifest["limits"] = limits
		}
		text, err := json.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := bundle.Embed(wasm, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.install("measured.wasm", whole); err != nil {
			t.Fatal(err)
		}
		for _, l := range contract.Limits {
			amount := l.Default
			if limits != nil {
				amount = l.Most
			}
			s.measure(t, l.Name, amount, &log)
		}
	}
}

// measure expects that a call may use an amount of something, and no more.
func (s *site) measure(t *testing.T, name string, amount int, log *bytes.Buffer) {
	t.Helper()
	use := func(args m) error {
		_, err := s.run("POST", "acme.measured."+name, args)
		return err
	}
	kind := fault.Exhausted
	over := amount + 1
	with := func(n int) m { return m{"n": n} }
	switch name {
	case "memory":
		over = amount + 65536 // a page
	case "input":
		kind = fault.TooLarge
		with = func(n int) m { return m{"pad": strings.Repeat("x", n-len(`{"pad":""}`))} }
	case "log":
		log.Reset()
		if err := use(m{"n": amount + 8192}); err != nil {
			t.Errorf("log: %v", err)
		}
		if got := strings.Count(log.String(), "x"); got != amount {
			t.Errorf("log: %d bytes are written, the contract says %d", got, amount)
		}
		return
	case "output", "host_calls", "depth":
	default:
		return // time, and what needs a server elsewhere, is measured where there is one
	}
	if err := use(with(amount)); err != nil {
		t.Errorf("%s: %d, which the contract allows: %v", name, amount, err)
	}
	if err := use(with(over)); fault.KindOf(err) != kind {
		t.Errorf("%s: %d is over the contract's %d: %v", name, over, amount, err)
	}
}
