package wasmtest_test

import (
	"testing"

	"armature/runtime/wasmtest"
)

func TestGuestsAssemble(t *testing.T) {
	for _, name := range wasmtest.Names() {
		if _, err := wasmtest.Module(name); err != nil {
			t.Error(err)
		}
	}
}

func TestAssembleRefuses(t *testing.T) {
	tests := map[string]string{
		"no module":     "(func)",
		"open list":     "(module (func)",
		"unknown word":  "(module (func (no.such)))",
		"unknown name":  "(module (func (call $f)))",
		"behind":        "(module) (module)",
		"open string":   `(module (data (i32.const 0) "abc))`,
		"no such field": "(module (banana))",
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := wasmtest.Assemble(src); err == nil {
				t.Error("no error")
			}
		})
	}
}
