package armaturetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Root is the folder of the module.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.sum")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			err = fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("the folder of the module: %v", err)
	return ""
}

// Put makes a file appear at once, as a careful operator does.
func Put(t *testing.T, path string, content []byte) {
	t.Helper()
	tmp := filepath.Join(filepath.Dir(path), ".incoming")
	if err := os.WriteFile(tmp, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}
