package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	check := flag.Bool("check", false, "change nothing, and fail if something would change")
	flag.Parse()
	changed, err := run(*root, *check, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
	if *check && changed > 0 {
		fmt.Fprintf(os.Stderr, "generate: %d files are not what the contract makes of them: run make generate\n", changed)
		os.Exit(1)
	}
}

// run brings every output up to date, or only says which are not. It returns how
// many differ. Nothing is written before all of them could be made.
func run(root string, check bool, out io.Writer) (changed int, err error) {
	c, err := load(filepath.Join(root, "sdk", "abi", "contract.json"))
	if err != nil {
		return 0, err
	}
	files := map[string][]byte{}
	for _, o := range outputs {
		path := filepath.Join(root, filepath.FromSlash(o.path))
		old, ok := files[path]
		if !ok {
			// A file that is not there yet is made, unless only a part of it is ours.
			if old, err = os.ReadFile(path); err != nil && !(os.IsNotExist(err) && o.region == "") {
				return 0, err
			}
		}
		if files[path], err = o.make(c, old); err != nil {
			return 0, fmt.Errorf("%s: %w", o.path, err)
		}
	}
	done := map[string]bool{}
	for _, o := range outputs {
		path := filepath.Join(root, filepath.FromSlash(o.path))
		old, err := os.ReadFile(path)
		if done[path] || err == nil && bytes.Equal(old, files[path]) {
			continue
		}
		done[path] = true
		changed++
		fmt.Fprintln(out, o.path)
		if !check {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return changed, err
			}
			if err := os.WriteFile(path, files[path], 0o644); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}
