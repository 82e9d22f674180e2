package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/core/apps/app"
	"armature/core/public/module"
	"armature/runtime/abi"
)

// PublicDir is the folder in a directory whose files the plugin serves to browsers.
const PublicDir = "public"

// public takes the files of a plugin out of its module.
func public(wasm []byte) (*app.Files, []byte, error) {
	archive, ok, err := Section(wasm, abi.PublicSection)
	if err != nil || !ok {
		return nil, wasm, err
	}
	files, err := app.Open(archive)
	if err != nil {
		return nil, nil, err
	}
	rest, err := strip(wasm, abi.PublicSection)
	return files, rest, err
}

// WithPublic returns a module with the files in it that lie in a directory's folder public,
// in place of those that it carries already; without such a folder it stays as it is.
// Scripts in TypeScript become modules that browsers run.
func WithPublic(wasm []byte, dir string) ([]byte, error) {
	paths, _, err := publicFiles(dir)
	if err != nil || len(paths) == 0 {
		return wasm, err
	}
	folder := filepath.Join(dir, PublicDir)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, size := make([]string, len(paths)), 0
	for i, p := range paths {
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return nil, err
		}
		names[i] = filepath.ToSlash(rel)
	}
	archive, err := app.Pack(names, func(name string) ([]byte, error) {
		content, err := readPublic(root, name)
		if size += len(content); err == nil && size > app.MaxUnpacked {
			err = fmt.Errorf("the files of %s are over %d MiB", PublicDir, app.MaxUnpacked>>20)
		}
		return content, err
	})
	if err != nil {
		return nil, err
	}
	if wasm, err = strip(wasm, abi.PublicSection); err != nil {
		return nil, err
	}
	return appendCustom(wasm, abi.PublicSection, archive), nil
}

func readPublic(root *os.Root, name string) ([]byte, error) {
	if isPublicScript(name) {
		code, err := module.Build(root, name, func(string) {})
		if err != nil {
			return nil, fmt.Errorf("%s/%w", PublicDir, err)
		}
		return code, nil
	}
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > app.MaxUnpacked {
		return nil, fmt.Errorf("%s/%s: it is no file, or too large", PublicDir, name)
	}
	return root.ReadFile(name)
}

func isPublicScript(name string) bool {
	return slices.Contains(app.Scripts, filepath.Ext(name)) && !strings.HasSuffix(name, ".d.ts")
}

// publicFiles lists the files that a directory's folder public has to serve, and the folders
// they lie in. What is hidden is none of them, nor are declarations of TypeScript. A folder
// that is a link is not followed.
func publicFiles(dir string) (files, folders []string, err error) {
	top := filepath.Join(dir, PublicDir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil, nil // it is one file
	}
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != top && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".well-known" || strings.HasPrefix(d.Name(), "_")):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir():
			folders = append(folders, path)
		case !strings.HasSuffix(path, ".d.ts"):
			files = append(files, path)
		}
		if len(files)+len(folders) > 2*app.MaxFiles {
			return fmt.Errorf("%s: more than %d files", PublicDir, app.MaxFiles)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return files, folders, err
}

// Compiles reports whether reading the bundle at path runs a compiler: it is a script, or
// has some for browsers.
func Compiles(path string) bool {
	if IsScript(path) {
		return true
	}
	files, _, err := publicFiles(path)
	return err != nil || slices.ContainsFunc(files, isPublicScript)
}
