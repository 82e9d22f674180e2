// Package archive makes archives of the sites of a sites.Set, and sites of archives:
// when it is told to, and by schedule.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"armature/core/backup"
	"armature/core/sites"
	"armature/core/store"
	"armature/core/tenant"
)

// Backup writes a site into an archive sealed under a passphrase, from the
// beginning of f: the state of one moment, while this and other processes serve
// the site. A site that does not exist is fs.ErrNotExist.
func Backup(ctx context.Context, set *sites.Set, name, passphrase string, f io.WriteSeeker, tell backup.Progress) (*backup.Manifest, error) {
	t, release, err := set.Borrow(ctx, name)
	if err != nil {
		return nil, err
	}
	defer release()
	return t.Backup(ctx, passphrase, f, tell)
}

// Verify tries an archive by restoring it, into a database that is thrown away: every
// record is stored, read back and compared, every file is read and counted.
func Verify(ctx context.Context, set *sites.Set, file, passphrase string, tell backup.Progress) (_ *backup.Archive, err error) {
	a, err := backup.Open(ctx, file, passphrase, tell)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(set.Config().Layout.Data, trialPrefix+"*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// What a crash would lose of it is of no use to anybody.
	db, err := store.OpenSQLite(ctx, filepath.Join(dir, "site.db"), store.Options{Logger: set.Config().Logger, Durability: store.Crash})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	into, err := tenant.Archived(db, nil, "")
	if err != nil {
		return nil, err
	}
	if err := a.Restore(ctx, into, dir, tell); err != nil {
		return nil, fmt.Errorf("try the archive: %w", err)
	}
	return a, nil
}

// trialPrefix begins the name of a folder in which an archive is made or tried.
const trialPrefix = ".backup-"
