package main

import (
	"bytes"
	"testing"

	"armature/plugins/bundle"
)

// TestLoops: the module is one that a server would compile, and each is another one.
func TestLoops(t *testing.T) {
	first, second := loops(1), loops(2)
	for _, wasm := range [][]byte{first, second} {
		b, err := bundle.Parse(wasm)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Manifest.Methods) != 1 || len(wasm) > 10_000 {
			t.Errorf("%d bytes with methods %v", len(wasm), b.Manifest.Methods)
		}
	}
	if bytes.Equal(first, second) {
		t.Error("the modules are the same")
	}
}
