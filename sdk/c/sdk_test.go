package c_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The header's own tests: a native program with the stub host.
func TestHeader(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("clang is missing: apt-get install clang")
	}
	program := filepath.Join(t.TempDir(), "test")
	build := exec.Command(clang, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", program, "testdata/json_test.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
