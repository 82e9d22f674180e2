package rust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The crate's own tests.
func TestCrate(t *testing.T) {
	rustc, err := exec.LookPath("rustc")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("rustc is missing: apt-get install rustc")
	}
	program := filepath.Join(t.TempDir(), "test")
	build := exec.Command(rustc, "--edition", "2021", "--test", "--crate-name", "armature", "-D", "warnings", "-o", program, "src/lib.rs")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
