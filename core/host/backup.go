package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/core/backup"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/migration"
	"armature/core/site"
	"armature/core/store"
)

// Backup writes a site into an archive sealed under a passphrase: the state of
// one moment, while this and other processes serve the site.
func (s *Set) Backup(ctx context.Context, name, passphrase string, w io.Writer) (*backup.Manifest, error) {
	t, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	db, ok := t.Store.(*store.Store)
	if !ok || !t.pins.take() {
		return nil, fmt.Errorf("site %s was closed", name)
	}
	defer t.release()
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
	return backup.Write(ctx, w, from, backup.Options{
		Header: backup.Header{Site: name, Version: s.c.Version, DataFormat: state.Format, DataReader: state.Reader},
		Config: config, Key: key, Passphrase: passphrase, Work: s.c.PassphraseWork, Now: s.now,
	})
}

func backupSite(db *store.Store, files storage, plugins string) (backup.Site, error) {
	boot, err := doctypes.Boot()
	if err != nil {
		return backup.Site{}, err
	}
	return backup.Site{Store: db, Boot: boot, Private: privateTables(), Files: files, Plugins: plugins}, nil
}

// Restored is what came of an archive.
type Restored struct {
	Site    string   `json:"name"`
	Records int64    `json:"records"`
	Files   int64    `json:"files"`
	Moved   string   `json:"moved_to,omitempty"` // folder of the site that was replaced
	Schema  string   `json:"schema,omitempty"`   // PostgreSQL schema of the site that was replaced
	Notes   []string `json:"notes,omitempty"`    // what differs from the site that was backed up
}

// Restore makes a site of an archive: under its own name, or as another. Nothing
// is seen of it before it is whole and was compared with the archive; what fails
// leaves nothing behind. A site of the name is fs.ErrExist, unless it is to be
// replaced: then it is dropped, not deleted.
func (s *Set) Restore(ctx context.Context, file, passphrase, as string, replace bool) (*Restored, error) {
	a, err := backup.Open(file, passphrase)
	if err != nil {
		return nil, err
	}
	if as == "" {
		as = a.Header.Site
	}
	if err := site.CheckName(as); err != nil {
		return nil, err
	}
	if _, err := s.migration(&Tenant{}, nil).Current(migration.State{Format: a.Header.DataFormat, Reader: a.Header.DataReader}); err != nil {
		return nil, err
	}
	sites, err := s.Sites(ctx)
	if err != nil {
		return nil, err
	}
	if find(sites, as) != nil && !replace {
		return nil, taken(as)
	}
	r := &restoring{set: s, archive: a, name: as, done: &Restored{Site: as, Records: a.Manifest.Records()}}
	r.done.Files, _ = a.Manifest.Files()
	if r.stage, err = s.registry.Stage(ctx, as); err != nil {
		return nil, fmt.Errorf("restore %s: %w", as, err)
	}
	if err := r.run(ctx, replace); err != nil {
		return nil, errors.Join(fmt.Errorf("restore %s: %w", as, err), r.stage.Discard())
	}
	return r.done, s.readSites(ctx)
}

// restoring is a site that is being made where nobody sees it.
type restoring struct {
	set     *Set
	archive *backup.Archive
	stage   Stage
	name    string
	done    *Restored
}

// run fills the stage and publishes it.
func (r *restoring) run(ctx context.Context, replace bool) error {
	config, err := r.config()
	if err != nil {
		return err
	}
	if err := r.fill(ctx, config); err != nil {
		return err
	}
	replaced, err := r.stage.Publish(ctx, config, replace)
	if err != nil {
		return err
	}
	r.done.Moved, r.done.Schema = replaced.Folder, replaced.Schema
	return nil
}

// fill puts everything into a folder, and into a schema of PostgreSQL.
func (r *restoring) fill(ctx context.Context, config *site.Config) (err error) {
	place, dir := r.stage.Place(), r.stage.Dir()
	o := r.set.c.Store
	o.Logger = r.set.c.Logger
	db, err := store.Open(ctx, place.Database, place.Schema, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := openStorage(config, place.Folder, filepath.Join(dir, "files"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	spool := filepath.Join(dir, "files", "tmp")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return err
	}
	plugins := filepath.Join(dir, "plugins")
	if err := os.MkdirAll(plugins, 0o700); err != nil {
		return err
	}
	to, err := backupSite(db, files, plugins)
	if err != nil {
		return err
	}
	if err := r.archive.Restore(ctx, to, spool); err != nil {
		return err
	}
	return r.storeKey(ctx, db)
}

// storeKey seals the site's key with the master key of this installation.
func (r *restoring) storeKey(ctx context.Context, db *store.Store) error {
	sealed, err := r.set.c.Master.SealKey(r.archive.Key)
	if err != nil {
		return err
	}
	return db.Write(ctx, document.Alone, func(tx document.Tx) error {
		return migration.Write(ctx, tx, migration.State{
			Sealed: sealed, Format: r.archive.Header.DataFormat, Reader: r.archive.Header.DataReader,
		})
	})
}

// config is the configuration. A site under another name does not take the hosts
// and the bucket's folder of the one it was made from.
func (r *restoring) config() (*site.Config, error) {
	c, err := parseConfig(r.archive.Config)
	if err == nil && r.name != r.archive.Header.Site {
		c, err = r.asAnother(c)
	}
	if err != nil {
		return nil, err
	}
	return r.apart(c)
}

// apart keeps the files in another part of the bucket where a site that is there
// has the same one: it is about to be dropped, and what is deleted on the new one
// must stay for the case that it is brought back.
func (r *restoring) apart(c *site.Config) (*site.Config, error) {
	own := &Record{Config: c, Place: r.stage.Place()}
	bucket, prefix := own.Bucket()
	taken := slices.ContainsFunc(r.set.table.Load().entries, func(e *entry) bool {
		b, p := e.record.Load().Bucket()
		return b == bucket && p == prefix
	})
	if bucket == "" || !taken {
		return c, nil
	}
	var settings map[string]json.RawMessage
	if err := json.Unmarshal(storageOf(c), &settings); err != nil {
		return nil, err
	}
	// In front, so that neither prefix begins with the other.
	other, err := json.Marshal(strings.ToLower(rand.Text()[:8]) + "-" + prefix)
	if err != nil {
		return nil, err
	}
	settings["prefix"] = other
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	r.done.Notes = append(r.done.Notes, "the files lie under a prefix of their own in the bucket")
	return c.With(storageSetting, text)
}

func (r *restoring) asAnother(c *site.Config) (*site.Config, error) {
	others := r.set.table.Load()
	taken := len(c.Hosts()) == 0 && len(others.entries) > 0 ||
		slices.ContainsFunc(c.Hosts(), func(host string) bool { return others.byHost[host] != nil })
	var err error
	if taken {
		hosts, _ := json.Marshal([]string{r.name})
		if c, err = c.With("hosts", hosts); err != nil {
			return nil, err
		}
		r.done.Notes = append(r.done.Notes, fmt.Sprintf("another site answers the hosts of the archive: hosts is %s now", hosts))
	}
	raw, ok := c.Get(storageSetting)
	if !ok {
		return c, nil
	}
	var settings map[string]json.RawMessage
	if json.Unmarshal(raw, &settings) != nil || settings["prefix"] == nil {
		return c, nil
	}
	delete(settings, "prefix")
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	r.done.Notes = append(r.done.Notes, "the files lie under a prefix of their own in the bucket")
	return c.With(storageSetting, text)
}
