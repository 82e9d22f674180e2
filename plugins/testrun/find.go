package testrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/plugins/script"
)

// File is a file of tests and what it is about.
type File struct {
	Path   string
	Root   string // the folder that it may import from
	Main   string // the first source of the plugin; empty: it is about none
	Plugin string // that plugin's bundle: Main, or the folder Root
}

// Find lists the tests of a path: of a script, of a folder that is a plugin with all
// folders in it, of a folder with scripts; or a test itself. None is an error.
func Find(path string) ([]File, error) {
	path, err := filepath.Abs(path) // a plugin may begin above it
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return findFor(path)
	}
	root, err := filepath.EvalSymlinks(path) // a walk does not begin with a link
	if err != nil {
		return nil, err
	}
	main, err := script.Main(root)
	if err != nil {
		return nil, err
	}
	files, err := testsIn(root, main != "")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no test: its name ends in .test.js or .test.ts, as in %s", example(main))
	}
	var all []File
	for _, file := range files {
		f := File{Path: file, Root: root, Main: main, Plugin: path}
		if main == "" {
			f.Main = script.Tested(file)
			f.Plugin = f.Main
		}
		all = append(all, f)
	}
	return all, nil
}

// example is the name of a test of main.
func example(main string) string {
	if main == "" {
		return "shop.test.js"
	}
	ext := filepath.Ext(main)
	return strings.TrimSuffix(filepath.Base(main), ext) + ".test" + ext
}

// findFor finds the tests of a file, which may be one.
func findFor(path string) ([]File, error) {
	dir := filepath.Dir(path)
	switch {
	case script.IsTest(path):
		if root, main := pluginAround(path); main != "" {
			return []File{{Path: path, Root: root, Main: main, Plugin: root}}, nil
		}
		main := script.Tested(path)
		return []File{{Path: path, Root: dir, Main: main, Plugin: main}}, nil
	case !script.Is(path):
		return nil, errors.New("it is neither a script nor a test of one")
	}
	if main, err := script.Main(dir); err == nil && main == path {
		return Find(dir)
	}
	files, err := testsIn(dir, false)
	if err != nil {
		return nil, err
	}
	var all []File
	for _, file := range files {
		if script.Tested(file) == path {
			all = append(all, File{Path: file, Root: dir, Main: path, Plugin: path})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no test: it would be %s, beside the script", example(path))
	}
	return all, nil
}

// maxAbove is how many folders up a test's plugin is looked for.
const maxAbove = 8

// pluginAround finds the folder that is a plugin and that a test lies in.
func pluginAround(test string) (root, main string) {
	dir := filepath.Dir(test)
	for range maxAbove {
		main, err := script.Main(dir)
		if main != "" || err != nil {
			return dir, main
		}
		dir = filepath.Dir(dir)
	}
	return "", ""
}

// testsIn lists the tests in a folder, sorted; with below those in its folders too,
// packages of npm aside.
func testsIn(dir string, below bool) (files []string, err error) {
	if below {
		files, _, err = script.Files(dir)
	} else {
		var entries []fs.DirEntry
		entries, err = os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return !script.IsTest(file) }), err
}
