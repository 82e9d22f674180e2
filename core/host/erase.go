package host

import (
	"context"
	"errors"
	"os"
	"time"

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
	// Servers let go of it before it is deleted. One that has not noticed would go
	// on with what is deleted, and take a new site of this name for this one: a
	// file system gives the number of a deleted folder to the next.
	select {
	case <-time.After(settled):
	case <-ctx.Done():
		return errors.Join(ctx.Err(), os.Rename(moved, l.Site(name)))
	}
	if database != "" {
		if err := store.Drop(ctx, database, schemaName(name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(moved)
}
