package zig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The module's own tests, and that its sources are formatted.
func TestModule(t *testing.T) {
	zig := filepath.Join("node_modules", ".bin", "zig")
	if _, err := os.Stat(zig); err != nil {
		if zig, err = exec.LookPath("zig"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("zig is missing: npm install --ignore-scripts in sdk/zig")
			}
			t.Skip("zig is missing: npm install --ignore-scripts in sdk/zig")
		}
	}
	for _, args := range [][]string{
		{"test", "armature_test.zig", "--cache-dir", t.TempDir()},
		{"fmt", "--check", "armature.zig", "stub.zig", "armature_test.zig", "../conformance/guests/zig", "../../examples/todo-zig/plugin.zig"},
	} {
		if out, err := exec.Command(zig, args...).CombinedOutput(); err != nil {
			t.Errorf("zig %v: %v\n%s", args, err, out)
		}
	}
}
