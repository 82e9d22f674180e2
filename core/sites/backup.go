package sites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"armature/core/backup"
	"armature/core/doctypes"
	"armature/core/migration"
	"armature/core/store"
)

// Backup writes a site into an archive sealed under a passphrase, from the
// beginning of f: the state of one moment, while this and other processes serve
// the site.
func (s *Set) Backup(ctx context.Context, name, passphrase string, f io.WriteSeeker, tell backup.Progress) (*backup.Manifest, error) {
	t, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if !t.pins.take() {
		return nil, fmt.Errorf("site %s was closed", name)
	}
	defer t.release()
	return t.backup(ctx, passphrase, f, tell)
}

// backup writes the archive of a site that is held.
func (t *Tenant) backup(ctx context.Context, passphrase string, f io.WriteSeeker, tell backup.Progress) (*backup.Manifest, error) {
	s := t.set
	db, ok := t.Store.(*store.Store)
	if !ok {
		return nil, fmt.Errorf("site %s has no database of its own", t.Site.Name)
	}
	state, err := migration.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	key, err := s.c.Master.Key(state.Sealed)
	if err != nil {
		return nil, err
	}
	config, err := t.Site.Config().MarshalIndent()
	if err != nil {
		return nil, err
	}
	from, err := backupSite(db, t.storage, s.c.Layout.SitePlugins(t.folder))
	if err != nil {
		return nil, err
	}
	return backup.Write(ctx, f, from, backup.Options{
		Header: backup.Header{Site: t.Site.Name, Version: s.c.Version, DataFormat: state.Format, DataReader: state.Reader, Origin: state.Origin},
		Config: config, Key: key, Passphrase: passphrase, Work: s.c.PassphraseWork, Now: s.now, Tell: tell,
	})
}

func backupSite(db *store.Store, files storage, plugins string) (backup.Site, error) {
	boot, err := doctypes.Boot()
	if err != nil {
		return backup.Site{}, err
	}
	return backup.Site{Store: db, Boot: boot, Private: privateTables(), Files: files, Plugins: plugins}, nil
}

// Verify tries an archive by restoring it, into a database that is thrown away: every
// record is stored, read back and compared, every file is read and counted.
func (s *Set) Verify(ctx context.Context, file, passphrase string, tell backup.Progress) (_ *backup.Archive, err error) {
	a, err := backup.Open(ctx, file, passphrase, tell)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.c.Layout.Data, trialPrefix+"*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// What a crash would lose of it is of no use to anybody.
	db, err := store.OpenSQLite(ctx, filepath.Join(dir, "site.db"), store.Options{Logger: s.c.Logger, Durability: store.Crash})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	into, err := backupSite(db, nil, "")
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
