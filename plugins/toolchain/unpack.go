package toolchain

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unpack writes the files below a folder of an SDK without tests of its own.
func Unpack(from fs.FS, root, to string) error {
	return fs.WalkDir(from, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(path, root)))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		content, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
