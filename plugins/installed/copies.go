package installed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"armature/plugins/bundle"
)

// copiesAge is how long the copy of a bundle stays that no open site's record
// names.
const copiesAge = 7 * 24 * time.Hour

// copies are the bundles from folders that serve, each in a file named by its
// hash. When the file in the folder has been replaced by a version that has to
// wait, and the server is started again, the version that served is still there.
type copies struct {
	dir string // empty: nothing is kept
	now func() time.Time

	mu    sync.Mutex
	tried map[string]bool // by hash: there is a copy, or none could be made
}

func (c *copies) path(hash string) string { return filepath.Join(c.dir, hash+".wasm") }

// keep copies the bundle at source, unless that was tried before. A source that
// has changed meanwhile is no error: its next version is on its way.
func (c *copies) keep(hash, source string) error {
	if c.dir == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tried[hash] {
		return nil
	}
	if c.tried == nil {
		c.tried = map[string]bool{}
	}
	c.tried[hash] = true
	if _, err := c.read(hash); err == nil {
		return nil
	} // else there is none, or a damaged one
	wasm, err := bundle.Whole(source)
	if err != nil {
		return err
	}
	b, err := bundle.Parse(wasm)
	if err != nil || b.Hash != hash {
		return err
	}
	return c.write(hash, wasm)
}

// write puts a copy in its place in one step.
func (c *copies) write(hash string, wasm []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(c.dir, ".copy-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(wasm)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), c.path(hash))
	}
	return err
}

func (c *copies) has(hash string) bool {
	if c.dir == "" {
		return false
	}
	info, err := os.Stat(c.path(hash))
	return err == nil && info.Mode().IsRegular()
}

// read reads a copy, which must be what its name says.
func (c *copies) read(hash string) (*bundle.Bundle, error) {
	b, err := bundle.Read(c.path(hash))
	if err == nil && b.Hash != hash {
		err = fmt.Errorf("%s has been changed", c.path(hash))
	}
	return b, err
}

// clean removes copies that have been there for copiesAge and are not named.
func (c *copies) clean(named map[string]bool) error {
	if c.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, ierr := e.Info()
		hash := strings.TrimSuffix(e.Name(), ".wasm")
		if ierr != nil || named[hash] || c.now().Sub(info.ModTime()) < copiesAge {
			continue
		}
		c.mu.Lock()
		delete(c.tried, hash)
		err = errors.Join(err, os.Remove(filepath.Join(c.dir, e.Name())))
		c.mu.Unlock()
	}
	return err
}
