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

// Shared is a folder for what takes long to make and is the same in every run of a
// test: in the user's cache, or where there is none a temporary one. Nobody else has it
// until the test ends.
func Shared(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	dir := filepath.Join(cache, "armature-test", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lock(t, dir))
	return dir
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
