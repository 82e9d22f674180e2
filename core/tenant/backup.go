package tenant

import (
	"context"
	"fmt"
	"io"

	"armature/core/backup"
	"armature/core/doctypes"
	"armature/core/file"
	"armature/core/migration"
	"armature/core/store"
)

// Backup writes the site into an archive sealed under a passphrase, from the
// beginning of f: the state of one moment, while this and other processes serve
// the site.
func (t *Tenant) Backup(ctx context.Context, passphrase string, f io.WriteSeeker, tell backup.Progress) (*backup.Manifest, error) {
	db, ok := t.Store.(*store.Store)
	if !ok {
		return nil, fmt.Errorf("site %s has no database of its own", t.Site.Name)
	}
	state, err := migration.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	key, err := t.c.Master.Key(state.Sealed)
	if err != nil {
		return nil, err
	}
	config, err := t.Site.Config().MarshalIndent()
	if err != nil {
		return nil, err
	}
	from, err := Archived(db, &t.storage, t.home.Plugins)
	if err != nil {
		return nil, err
	}
	from.Frontends = t.frontends.Save
	return backup.Write(ctx, f, from, backup.Options{
		Header: backup.Header{Site: t.Site.Name, Version: t.c.Version, DataFormat: state.Format, DataReader: state.Reader, Lineage: state.Lineage},
		Config: config, Key: key, Passphrase: passphrase, Work: t.c.PassphraseWork, Now: t.c.Now, Tell: tell,
	})
}

// Archived is a site as an archive has it: its database, where the bytes of its
// files are, and the folder of its plugins. No files, and no folder, are nil and
// empty.
func Archived(db *store.Store, files file.Storage, plugins string) (backup.Contents, error) {
	boot, err := doctypes.Boot()
	if err != nil {
		return backup.Contents{}, err
	}
	return backup.Contents{Store: db, Boot: boot, Private: privateTables(), Files: files, Plugins: plugins}, nil
}
