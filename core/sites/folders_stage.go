package sites

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"armature/core/site"
)

// stagedFolder is a site that is made in a folder beside those of the sites.
type stagedFolder struct {
	f    *folders
	name string
	dir  string
}

// Stage implements Registry.
func (f *folders) Stage(_ context.Context, name string) (Stage, error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	top := filepath.Join(f.Data, "restoring")
	if err := os.MkdirAll(top, 0o700); err != nil {
		return nil, err
	}
	s := &stagedFolder{f, name, filepath.Join(top, name+"-"+newMark())}
	return s, os.Mkdir(s.dir, 0o700)
}

// newMark tells what is made now from whatever was made before.
func newMark() string { return strings.ToLower(rand.Text()[:8]) }

func (s *stagedFolder) Dir() string { return s.dir }

func (s *stagedFolder) Place() Place {
	return Place{Folder: s.name, Database: filepath.Join(s.dir, "site.db")}
}

// Publish implements Stage. The site that is there is moved aside first, and has
// no servers any more when its folder is another's. After a failure it is where
// it was.
func (s *stagedFolder) Publish(ctx context.Context, config *site.Config, replace bool) (replaced Kept, err error) {
	if err := writeConfig(s.dir, config); err != nil {
		return Kept{}, err
	}
	if s.f.exists(s.name) {
		if !replace {
			return Kept{}, taken(s.name)
		}
		if replaced, err = s.f.Drop(ctx, s.name); err != nil {
			return Kept{}, err
		}
		defer func() {
			if err == nil {
				return
			}
			if back := os.Rename(replaced.Folder, s.f.Site(s.name)); back != nil {
				err = errors.Join(err, fmt.Errorf("put the site back from %s: %w", replaced.Folder, back))
			}
		}()
		if err := settle(ctx); err != nil {
			return Kept{}, err
		}
	}
	return replaced, os.Rename(s.dir, s.f.Site(s.name))
}

func (s *stagedFolder) Discard() error { return os.RemoveAll(s.dir) }

// Sweep implements Registry. A site that is being made is written to all the time.
func (f *folders) Sweep(ctx context.Context) (err error) {
	top := filepath.Join(f.Data, "restoring")
	entries, failed := os.ReadDir(top)
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return failed
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		dir := filepath.Join(top, e.Name())
		old, failed := untouched(dir, time.Now().Add(-brokenOff))
		if failed == nil && old {
			f.log.Info("what is left of a site whose making was broken off is removed", "folder", dir)
			failed = os.RemoveAll(dir)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// untouched reports whether nothing in a folder has been written to since a time.
func untouched(dir string, since time.Time) (old bool, err error) {
	old = true
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.ModTime().After(since) {
			old = false
			return fs.SkipAll
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // somebody is at work on it
		return false, nil
	}
	return old, err
}
