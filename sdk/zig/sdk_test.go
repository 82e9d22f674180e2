package zig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The sources are formatted. The module's own tests are in testdata.
func TestFormat(t *testing.T) {
	zig := filepath.Join("node_modules", ".bin", "zig")
	if _, err := os.Stat(zig); err != nil {
		if zig, err = exec.LookPath("zig"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("zig is missing: npm install --ignore-scripts in sdk/zig")
			}
			t.Skip("zig is missing: npm install --ignore-scripts in sdk/zig")
		}
	}
	args := []string{"fmt", "--check", "armature.zig", "testing.zig", "testdata", "../conformance/guests/zig", "../../examples/todo-zig"}
	if out, err := exec.Command(zig, args...).CombinedOutput(); err != nil {
		t.Errorf("zig %v: %v\n%s", args, err, out)
	}
}
