package toolchain

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cache is what stays from one build of a plugin to the next, so that each is
// quick. What is built with it is for its author: less optimised, and with the
// names and lines of the sources inside. A nil one keeps nothing.
type cache struct {
	found map[string]string // tools, by what they were looked for
	state map[string]string // of the sources of what has been made, by file
	asc   *ascService
}

func newCache() *cache { return &cache{found: map[string]string{}, state: map[string]string{}} }

// close ends the tools that go on running between builds.
func (c *cache) close() { c.asc.close() }

// find looks for a tool, once.
func (c *cache) find(name string, look func() (string, error)) (string, error) {
	if c != nil && c.found[name] != "" {
		return c.found[name], nil
	}
	path, err := look()
	if err == nil && c != nil {
		c.found[name] = path
	}
	return path, err
}

// made reports whether a file has been made of sources in this state, as note has
// noted.
func (c *cache) made(file, state string) bool {
	if c == nil || c.state[file] != state {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

func (c *cache) note(file, state string) {
	if c != nil {
		c.state[file] = state
	}
}

// stateOf tells the contents of a folder from any others.
func stateOf(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	return b.String(), err
}
