package toolchain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/plugins/toolchain"
)

// TestDetect: a language is told by files of the plugin itself, C++ before C.
func TestDetect(t *testing.T) {
	for want, files := range map[string][]string{
		"Go":               {"go.mod", "main.go"},
		"Rust":             {"src/lib.rs", "go.sum"},
		"AssemblyScript":   {"assembly/plugin.ts"},
		"C++":              {"plugin.cpp", "vendored.c"},
		"C":                {"plugin.c"},
		"Zig":              {"plugin.zig"},
		"WebAssembly text": {"plugin.wat"},
	} {
		dir := t.TempDir()
		for _, name := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := toolchain.Detect(dir); err != nil || got != want {
			t.Errorf("%v is %q, %v; want %s", files, got, err, want)
		}
	}
	_, err := toolchain.Detect(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "go.mod (Go), src/lib.rs (Rust)") || !strings.Contains(err.Error(), "main.ts") {
		t.Errorf("who has none of the files is told: %v", err)
	}
}
