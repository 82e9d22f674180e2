// Package script reads plugins that are JavaScript or TypeScript sources.
//
// Nothing of a script is run here. esbuild strips the types, joins the files of a
// folder and says what is wrong with the syntax, and where; from the tree of the
// outcome comes what the script exports and what it says about itself in
// `export const manifest = {...}`, which therefore has to be a literal.
package script

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxSize bounds a script with all it imports, in bytes.
const MaxSize = 8 << 20

// Script is a source, ready to be run.
type Script struct {
	Code      []byte   // an ES module in JavaScript, all imports inside
	Map       []byte   // its source map
	Functions []string // the exported functions, sorted
	Manifest  []byte   // JSON: what the script says about itself; nil if nothing

	manifest string // the name under which the code declares it
}

// extensions are those of a source, in the order in which a folder is searched.
var extensions = []string{".ts", ".js", ".mts", ".mjs"}

// Is reports whether a file of that name is a source: neither hidden, nor
// declarations, nor tests.
func Is(path string) bool {
	stem, ok := stem(path)
	return ok && !strings.HasSuffix(stem, ".d") && !strings.HasSuffix(stem, testSuffix)
}

// stem is the name of a file without its extension, which is one of a source's.
// Hidden files have none.
func stem(path string) (string, bool) {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	return stem, stem != "" && !strings.HasPrefix(name, ".") && slices.Contains(extensions, ext)
}

// Name is the name of the plugin whose source is a file of that name: acme.shop
// for acme.shop.ts.
func Name(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Main finds the file a folder's script begins with, main.ts or main.js; empty if
// there is none. Two are an error.
func Main(dir string) (string, error) {
	var found []string
	for _, ext := range extensions {
		path := filepath.Join(dir, "main"+ext)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found = append(found, path)
		}
	}
	if len(found) > 1 {
		return "", fmt.Errorf("%s: both %s and %s: which one is meant?", filepath.Base(dir), filepath.Base(found[0]), filepath.Base(found[1]))
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], nil
}

// Files lists the sources a folder's script may consist of, and the folders they
// lie in, packages of npm aside.
func Files(dir string) (files, folders []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir():
			folders = append(folders, path)
		case slices.Contains(extensions, filepath.Ext(path)) || filepath.Ext(path) == ".json" || filepath.Ext(path) == ".txt":
			files = append(files, path)
		}
		if len(files)+len(folders) > maxFiles {
			return fmt.Errorf("%s: more than %d files", filepath.Base(dir), maxFiles)
		}
		return nil
	})
	return files, folders, err
}

// maxFiles bounds a folder that is looked through for sources.
const maxFiles = 2000

// Read reads the script that begins with the file main. With a root it may import
// what lies in that folder, packages in its node_modules too; without one it is
// on its own.
func Read(main, root string) (*Script, error) {
	s, err := bundle(main, root)
	if err != nil {
		return nil, err
	}
	if len(s.Code) > MaxSize {
		return nil, fmt.Errorf("%s: over %d MiB with all it imports, the limit", filepath.Base(main), MaxSize>>20)
	}
	if err := s.analyse(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(main), err)
	}
	return s, nil
}
