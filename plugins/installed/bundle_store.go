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

// unnamedAge is how long the copy of a bundle stays that no open site's record
// names.
const unnamedAge = 7 * 24 * time.Hour

// BundleStore is what all sites of a process have in common: copies of the bundles that
// serve from folders, each in a file named by its hash. When the file in the folder has
// been replaced by a version that has to wait, and the server is started again, the
// version that served is still there. A nil one keeps nothing.
type BundleStore struct {
	dir string
	now func() time.Time

	mu    sync.Mutex
	tried map[string]bool // by hash: there is a copy, or none could be made
}

// NewBundleStore makes a store in a folder, which need not be there.
func NewBundleStore(dir string, now func() time.Time) *BundleStore {
	return &BundleStore{dir: dir, now: now, tried: map[string]bool{}}
}

func (st *BundleStore) path(hash string) string { return filepath.Join(st.dir, hash+".wasm") }

// keep copies the bundle at source, unless that was tried before. A source that
// has changed meanwhile is no error: its next version is on its way.
func (st *BundleStore) keep(hash, source string) error {
	if st == nil {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.tried[hash] {
		return nil
	}
	st.tried[hash] = true
	if _, err := st.read(hash); err == nil {
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
	return st.write(hash, wasm)
}

// write puts a copy in its place in one step.
func (st *BundleStore) write(hash string, wasm []byte) error {
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(st.dir, ".copy-*")
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
		err = os.Rename(tmp.Name(), st.path(hash))
	}
	return err
}

// Has reports whether there is a copy.
func (st *BundleStore) Has(hash string) bool {
	if st == nil {
		return false
	}
	info, err := os.Stat(st.path(hash))
	return err == nil && info.Mode().IsRegular()
}

// read reads a copy, which must be what its name says.
func (st *BundleStore) read(hash string) (*bundle.Bundle, error) {
	b, err := bundle.Read(st.path(hash))
	if err == nil && b.Hash != hash {
		err = fmt.Errorf("%s has been changed", st.path(hash))
	}
	return b, err
}

// Clean removes copies that have been there for a week and are not named.
func (st *BundleStore) Clean(named map[string]bool) error {
	if st == nil {
		return nil
	}
	entries, err := os.ReadDir(st.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, ierr := e.Info()
		hash := strings.TrimSuffix(e.Name(), ".wasm")
		if ierr != nil || named[hash] || st.now().Sub(info.ModTime()) < unnamedAge {
			continue
		}
		st.mu.Lock()
		delete(st.tried, hash)
		err = errors.Join(err, os.Remove(filepath.Join(st.dir, e.Name())))
		st.mu.Unlock()
	}
	return err
}
