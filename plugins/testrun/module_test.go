package testrun_test

import (
	"strings"
	"testing"

	"armature/plugins/testrun"
	"armature/runtime/wasmtest"
)

// TestModule: the exports test.* of a module are tests, each from the state after
// loading, and what ends one is told.
func TestModule(t *testing.T) {
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, module, want string }{
		{"each begins anew", `(module (memory (export "memory") 1) (global $n (mut i32) (i32.const 0))
			(func $once (param i32) (if (global.get $n) (then (unreachable))) (global.set $n (i32.const 1)))
			(export "test.a" (func $once)) (export "test.b" (func $once)) (export "other" (func $once)))`, "a: , b: "},
		{"a name without a dot", `(module (memory (export "memory") 1) (func (export "test_a") (param i32)))`, "a: "},
		{"traps", `(module (memory (export "memory") 1) (func (export "test.a") (param i32) (unreachable)))`, "a: trap"},
		{"throws", `(module (import "armature1" "throw" (func $t (param i32 i32 i32))) (memory (export "memory") 1)
			(data (i32.const 0) "{\"exc_type\":\"AssertionError\",\"message\":\"x\"}")
			(func (export "test.a") (param i32) (call $t (i32.const 2) (i32.const 0) (i32.const 43))))`, "a: AssertionError: x"},
		{"never ends", `(module (memory (export "memory") 1) (func (export "test.a") (param i32) (loop $l (br $l))))`, "a: the test has used up its processor time"},
		{"of another shape", `(module (memory (export "memory") 1) (func (export "test.a") (param i64)))`, "a: a test is a function that takes"},
		{"no test", `(module (memory (export "memory") 1))`, ": there is no test in it"},
		{"no memory", `(module (func (export "test.a") (param i32)))`, ""},
	} {
		wasm, err := wasmtest.Assemble(tt.module)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		if err := r.Module(t.Context(), "x.wat", wasm, func(one testrun.Result) {
			got = append(got, one.Test+": "+one.Error)
		}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, ", "); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}
