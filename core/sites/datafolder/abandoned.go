package datafolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// BrokenOff is how old a site is that was not made, or erased, to its end and that
// nobody can be at work on any more.
const BrokenOff = 24 * time.Hour

// RemoveAbandoned removes what has a prefix in the folder top and was not written to
// for a day: who made it was killed. It goes on after one that cannot be removed, and
// returns the errors of all; it ends with ctx.
func RemoveAbandoned(ctx context.Context, top, prefix string, log *slog.Logger) (err error) {
	entries, failed := os.ReadDir(top)
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return failed
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(top, e.Name())
		old, failed := untouched(dir, time.Now().Add(-BrokenOff))
		if failed == nil && old {
			log.Info("what was broken off more than a day ago is removed", "folder", dir)
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
