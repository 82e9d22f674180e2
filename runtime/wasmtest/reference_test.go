package wasmtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"armature/runtime/wasmtest"
)

// TestLikeTheReference: wabt's assembler makes the same module of the same text. How
// locals are counted and names are written is left out of it.
func TestLikeTheReference(t *testing.T) {
	if _, err := exec.LookPath("wat2wasm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("wat2wasm is missing; install it with: apt-get install wabt")
	}
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	said := func(t *testing.T, binary string) string {
		run(t, "wasm-strip", binary)
		return run(t, "wasm2wat", "--enable-all", binary)
	}
	texts, err := filepath.Glob("guests/*.wat")
	if err != nil || len(texts) != len(wasmtest.Names()) {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	for _, text := range texts {
		t.Run(filepath.Base(text), func(t *testing.T) {
			dir := t.TempDir()
			ours, reference := filepath.Join(dir, "ours.wasm"), filepath.Join(dir, "reference.wasm")
			run(t, "wat2wasm", "--enable-all", "-o", reference, text)
			src, err := os.ReadFile(text)
			if err != nil {
				t.Fatal(err)
			}
			binary, err := wasmtest.Assemble(string(src))
			if err == nil {
				err = os.WriteFile(ours, binary, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := said(t, ours), said(t, reference); got != want {
				t.Errorf("our assembler made\n%s\nand wabt's\n%s", got, want)
			}
		})
	}
}
