package plugintest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/runtime/wasmtest"
)

// Asks makes a small plugin that imports the given capabilities and has a method
// for each, <plugin>.<capability>, which hands its input on to the capability
// and outputs or throws the answer. It builds in no time, and each text of salt
// makes another module. more are further members of the manifest.
func Asks(tb testing.TB, plugin, version, salt string, more map[string]any, capabilities ...string) []byte {
	tb.Helper()
	var wat strings.Builder
	wat.WriteString(`(module
  (import "armature1" "input" (func $input (param i32 i32) (result i32)))
  (import "armature1" "output" (func $output (param i32 i32)))
  (import "armature1" "take" (func $take (param i32 i32) (result i32)))
  (import "armature1" "throw" (func $throw (param i32 i32 i32)))
`)
	for _, c := range capabilities {
		fmt.Fprintf(&wat, "  (import \"armature1\" %q (func $%s (param i32 i32 i32 i32) (result i32)))\n", c, c)
	}
	fmt.Fprintf(&wat, "  (memory (export \"memory\") 4)\n  (data (i32.const 16) %q)\n", salt)
	grants := slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool {
		return !slices.Contains(manifest.Grantable(), c)
	})
	members := map[string]any{"name": plugin, "version": version, "abi": 1, "grants": grants}
	methods := []any{map[string]any{"path": plugin + ".echo", "export": "echo"}}
	wat.WriteString(`  (func $echo (export "echo") (param $n i32)
    (call $output (i32.const 4096) (call $input (i32.const 4096) (i32.const 61440))))
`)
	for _, c := range capabilities {
		methods = append(methods, map[string]any{"path": plugin + "." + c, "export": c})
		fmt.Fprintf(&wat, `  (func $ask_%s (export %q) (param $n i32) (local $r i32)
    (drop (call $input (i32.const 4096) (i32.const 61440)))
    (local.set $r (call $%s (i32.const 4096) (local.get $n) (i32.const 65536) (i32.const 131072)))
    (if (i32.lt_s (local.get $r) (i32.const 0))
      (then (call $throw (i32.sub (i32.const 0) (local.get $r)) (i32.const 65536) (call $take (i32.const 65536) (i32.const 131072)))))
    (call $output (i32.const 65536) (local.get $r)))
`, c, c, c)
	}
	wat.WriteString(")\n")
	members["methods"] = methods
	for key, v := range more {
		if list, ok := v.([]string); ok && key == "grants" {
			v = append(list, grants...)
		}
		members[key] = v
	}
	wasm, err := wasmtest.Assemble(wat.String())
	if err != nil {
		tb.Fatal(err)
	}
	text, err := json.Marshal(members)
	if err != nil {
		tb.Fatal(err)
	}
	whole, err := bundle.Embed(wasm, text)
	if err != nil {
		tb.Fatal(err)
	}
	return whole
}
