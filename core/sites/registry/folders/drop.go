package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"armature/core/sites/registry"
)

// Drop implements Registry: the folder moves out of the way. A server that runs
// on it closes the site within a second; until then it goes on using the files it
// has open.
func (f *Folders) Drop(_ context.Context, name string) (registry.Kept, error) {
	if !f.exists(name) {
		return registry.Kept{}, registry.Missing(name)
	}
	dir := f.Layout.Dropped()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return registry.Kept{}, err
	}
	to := filepath.Join(dir, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", name, n))
	}
	return registry.Kept{Folder: to}, os.Rename(f.Site(name), to)
}

// Undrop implements Registry. It leaves to a person which of the folders is the
// site: their names do not say it for certain.
func (f *Folders) Undrop(_ context.Context, name string) error {
	return fmt.Errorf("move its folder back from %s to %s", f.Layout.Dropped(), f.Site(name))
}

// Erase implements Registry.
func (f *Folders) Erase(ctx context.Context, name string) (int, error) {
	// The folder is moved away first, so that no server opens the site again
	// between its database and its folder being deleted.
	moved, err := f.Drop(ctx, name)
	if err != nil {
		return 0, err
	}
	// Servers let go of it before it is deleted. One that has not noticed would go
	// on with what is deleted, and take a new site of this name for this one: a
	// file system gives the number of a deleted folder to the next.
	if err := registry.Settle(ctx); err != nil {
		return 0, errors.Join(err, os.Rename(moved.Folder, f.Site(name)))
	}
	return 0, os.RemoveAll(moved.Folder)
}
