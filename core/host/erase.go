package host

import (
	"context"
	"os"

	"armature/core/store"
)

// Erase deletes a site for good: its folder and its database. A server that
// serves it closes it within a second; requests that are running fail. A missing
// site is fs.ErrNotExist.
func Erase(ctx context.Context, l Layout, database, name string) error {
	// The folder is moved away first, so that no server opens the site again
	// between its database and its folder being deleted.
	moved, err := l.Drop(name)
	if err != nil {
		return err
	}
	if database != "" {
		if err := store.Drop(ctx, database, schemaName(name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(moved)
}
