package bundle

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/plugins/script"
)

// Read reads the bundle at path: a .wasm file, a script, or a directory. Errors
// name the file and what is wrong with it.
func Read(path string) (*Bundle, error) {
	whole, text, err := parts(path)
	if err != nil {
		return nil, err
	}
	if text == nil {
		var b *Bundle
		if b, err = Parse(whole); err == nil {
			return b, nil
		}
	} else if b, err2 := assemble(text, whole); err2 == nil {
		return b, nil
	} else {
		err = err2
	}
	return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
}

// Whole reads the bundle at path as one file.
func Whole(path string) ([]byte, error) {
	whole, text, err := parts(path)
	if err != nil || text == nil {
		return whole, err
	}
	return Embed(whole, text)
}

// parts reads a module and the manifest that counts for it; nil: the one inside.
func parts(path string) (wasm, text []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		switch {
		case script.Is(path):
			wasm, err = readScript(path, "")
		case script.IsTest(path):
			err = fmt.Errorf("%s is a test of a script, and no plugin", filepath.Base(path))
		default:
			wasm, err = readFile(path, MaxSize)
		}
		return wasm, nil, err
	}
	module, main, err := sources(path)
	if err != nil {
		return nil, nil, err
	}
	if main != "" {
		wasm, err = readScript(main, path)
		return wasm, nil, err
	}
	if text, err = ManifestText(path); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if wasm, err = readFile(module, MaxSize); err != nil {
		return nil, nil, err
	}
	wasm, err = WithPublic(wasm, path)
	return wasm, text, err
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
		return info.Mode().IsRegular() && (filepath.Ext(path) == ".wasm" || script.Is(path))
	}
	if _, err = os.Stat(filepath.Join(path, ManifestFile)); err == nil {
		return true
	}
	main, err := script.Main(path)
	return main != "" || err != nil
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
	module, main, err := sources(path)
	if err != nil {
		return nil, err
	}
	if main != "" {
		files, _, err := script.Files(path) // armature.json and the DocTypes too
		if err != nil {
			return nil, err
		}
		pages, _, err := publicFiles(path)
		return append(files, pages...), err
	}
	shipped, err := doctypeFiles(path)
	if err != nil {
		return nil, err
	}
	pages, _, err := publicFiles(path)
	return slices.Concat([]string{filepath.Join(path, ManifestFile), module}, shipped, pages), err
}

// Folders lists the directories whose files a bundle consists of, itself first;
// nothing for a file.
func Folders(path string) []string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil
	}
	if main, err := script.Main(path); main != "" && err == nil {
		if _, folders, err := script.Files(path); err == nil {
			return folders
		}
	}
	folders := []string{path}
	if _, pages, err := publicFiles(path); err == nil {
		folders = append(folders, pages...)
	}
	if info, err := os.Stat(filepath.Join(path, DocTypesDir)); err == nil && info.IsDir() {
		folders = append(folders, filepath.Join(path, DocTypesDir))
	}
	return folders
}

// sources finds what a directory holds: one .wasm file, or a script's first file.
func sources(dir string) (module, main string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", err
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); filepath.Ext(name) == ".wasm" && !strings.HasPrefix(name, ".") {
			found = append(found, name)
		}
	}
	if main, err = script.Main(dir); err != nil {
		return "", "", err
	}
	if main != "" {
		found = append(found, filepath.Base(main))
	}
	switch {
	case len(found) > 1:
		return "", "", fmt.Errorf("%s: one .wasm file or script is expected beside %s, found %s", filepath.Base(dir), ManifestFile, strings.Join(found, ", "))
	case main != "":
		return "", main, nil
	case len(found) == 1:
		return filepath.Join(dir, found[0]), "", nil
	}
	return "", "", fmt.Errorf("%s: no .wasm file and no main.js or main.ts beside %s; armature plugin build makes one of the sources", filepath.Base(dir), ManifestFile)
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
	return bytes.TrimPrefix(b, byteOrderMark), nil
}

// byteOrderMark begins what some editors write; JSON must not begin with it (RFC 8259,
// section 8.1), and a reader may pass over it.
var byteOrderMark = []byte("\ufeff")
