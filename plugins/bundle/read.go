package bundle

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Read reads the bundle at path, a .wasm file or a directory. Errors name the
// file and what is wrong with it.
func Read(path string) (*Bundle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readDir(path)
	}
	wasm, err := readFile(path, MaxSize)
	if err != nil {
		return nil, err
	}
	b, err := Parse(wasm)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return b, nil
}

// IsBundle reports whether an entry of a plugin folder looks like a bundle.
// Hidden entries do not: editors and copying tools write under such names and
// rename at the end.
func IsBundle(path string) bool {
	if strings.HasPrefix(filepath.Base(path), ".") {
		return false
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return info.Mode().IsRegular() && filepath.Ext(path) == ".wasm"
	}
	_, err = os.Stat(filepath.Join(path, ManifestFile))
	return err == nil
}

// Files lists the files a bundle consists of, to see whether it has changed. A
// directory without them is an error.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	module, err := onlyModule(path)
	if err != nil {
		return nil, err
	}
	shipped, err := doctypeFiles(path)
	return append([]string{filepath.Join(path, ManifestFile), module}, shipped...), err
}

// Whole reads the bundle at path as one file.
func Whole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(path, MaxSize)
	}
	text, err := ManifestText(path)
	if err != nil {
		return nil, err
	}
	module, err := onlyModule(path)
	if err != nil {
		return nil, err
	}
	wasm, err := readFile(module, MaxSize)
	if err != nil {
		return nil, err
	}
	return Embed(wasm, text)
}

func readDir(dir string) (*Bundle, error) {
	text, err := ManifestText(dir)
	if err != nil {
		return nil, err
	}
	path, err := onlyModule(dir)
	if err != nil {
		return nil, err
	}
	wasm, err := readFile(path, MaxSize)
	if err != nil {
		return nil, err
	}
	b, err := assemble(text, wasm)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(dir), err)
	}
	return b, nil
}

// onlyModule finds the one .wasm file of a directory.
func onlyModule(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); filepath.Ext(name) == ".wasm" && !strings.HasPrefix(name, ".") {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: no .wasm file beside %s", filepath.Base(dir), ManifestFile)
	case 1:
		return filepath.Join(dir, found[0]), nil
	}
	return "", fmt.Errorf("%s: one .wasm file is expected beside %s, found %s", filepath.Base(dir), ManifestFile, strings.Join(found, ", "))
}

// readFile reads a regular file of at most limit bytes. Anything else, such as a
// pipe, might never end.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: over %d MiB, the limit", filepath.Base(path), limit>>20)
	}
	return b, nil
}
