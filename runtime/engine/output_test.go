package engine_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"armature/runtime/engine"
	"armature/runtime/wasmtest"
)

func TestOutputComesInLines(t *testing.T) {
	text := "first\nsecond\n\n" + strings.Repeat("x", 5000) + "\nlast"
	wasm, err := wasmtest.Assemble(`(module
		(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
		(memory 1) (data (i32.const 1024) "` + strings.ReplaceAll(text, "\n", `\n`) + `")
		(func (export "run") (param $fd i32) (local $i i32)
			(i32.store (i32.const 4) (i32.const 7)) ;; seven bytes at a time
			(loop $next
				(i32.store (i32.const 0) (i32.add (i32.const 1024) (local.get $i)))
				(if (i32.gt_u (i32.add (local.get $i) (i32.const 7)) (i32.const ` + strconv.Itoa(len(text)) + `))
					(then (i32.store (i32.const 4) (i32.sub (i32.const ` + strconv.Itoa(len(text)) + `) (local.get $i)))))
				(if (call $write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8)) (then (unreachable)))
				(local.set $i (i32.add (local.get $i) (i32.const 7)))
				(br_if $next (i32.lt_u (local.get $i) (i32.const ` + strconv.Itoa(len(text)) + `))))))`)
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, newEngine(t, engine.Config{}), wasm)
	var lines []string
	c := &engine.Call{Export: "run", Arg: 2, OnOutput: func(_ *engine.Call, stderr bool, line []byte) {
		if !stderr {
			t.Error("standard error came out as standard output")
		}
		lines = append(lines, string(line))
	}}
	if _, err := m.Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{"first", "second", "", strings.Repeat("x", 4096), strings.Repeat("x", 904), "last"}
	if strings.Join(lines, "|") != strings.Join(want, "|") {
		t.Errorf("lines %q", lines)
	}

	var failed *engine.Error
	if _, err := m.Call(t.Context(), &engine.Call{Export: "run", Arg: 3}); !errors.As(err, &failed) {
		t.Error("writing to a file:", err)
	}
	// Ending the call from the last, unfinished line is too late, but harmless.
	c = &engine.Call{Export: "run", Arg: 1, OnOutput: func(c *engine.Call, _ bool, line []byte) {
		if string(line) == "last" {
			c.Abort(errors.New("enough"))
		}
	}}
	if _, err := m.Call(t.Context(), c); err != nil {
		t.Error(err)
	}
}
