package bundle

import (
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name under which a bundle is installed: a directory becomes one
// file.
func FileName(path string) string {
	return strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".wasm") + ".wasm"
}

// Entry is one entry of a plugin folder: a bundle, or why it is none.
type Entry struct {
	Path   string
	Bundle *Bundle
	Err    error
}

// List reads a plugin folder; one that is missing is empty.
func List(dir string) []Entry {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []Entry
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !IsBundle(path) {
			continue
		}
		b, err := Read(path)
		list = append(list, Entry{path, b, err})
	}
	return list
}
