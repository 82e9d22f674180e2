package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"armature/core/backup"
	"armature/core/doctypes"
	"armature/core/document"
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
	sealed, _, err := readState(ctx, db)
	if err != nil {
		return nil, err
	}
	key, err := s.c.Master.Key(sealed)
	if err != nil {
		return nil, err
	}
	config, err := t.Site.Config().MarshalIndent()
	if err != nil {
		return nil, err
	}
	from, err := backupSite(db, t.storage, s.c.Layout.SitePlugins(name))
	if err != nil {
		return nil, err
	}
	return backup.Write(ctx, w, from, backup.Options{
		Header: backup.Header{Site: name, Version: s.c.Version},
		Config: config, Key: key, Passphrase: passphrase, Work: s.c.PassphraseWork, Now: s.now,
	})
}

func backupSite(db *store.Store, files storage, plugins string) (backup.Site, error) {
	boot, err := doctypes.Boot()
	if err != nil {
		return backup.Site{}, err
	}
	private, err := privateTables()
	if err != nil {
		return backup.Site{}, err
	}
	// The first one holds the site's key, which goes by itself: it is sealed with
	// another master key wherever it comes to.
	return backup.Site{Store: db, Boot: boot, Private: private[1:], Files: files, Plugins: plugins}, nil
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
// replaced: then it is moved aside, not deleted.
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
	if err := s.free(ctx, as); err != nil && !(replace && errors.Is(err, fs.ErrExist)) {
		return nil, err
	}
	r := &restoring{set: s, archive: a, name: as, done: &Restored{Site: as, Records: a.Manifest.Records()}}
	r.done.Files, _ = a.Manifest.Files()
	if err := r.stage(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("restore %s: %w", as, err), r.discard())
	}
	if err := r.publish(ctx, replace); err != nil {
		return nil, errors.Join(fmt.Errorf("restore %s: %w", as, err), r.discard())
	}
	return r.done, s.readSites()
}

// free is fs.ErrExist where there is a site of the name, or what is left of one.
func (s *Set) free(ctx context.Context, name string) error {
	if s.c.Layout.Exists(name) {
		return fmt.Errorf("site %s: %w", name, fs.ErrExist)
	}
	if s.c.Database == "" {
		return nil
	}
	found, err := store.HasSchema(ctx, s.c.Database, schemaName(name))
	if err == nil && found {
		err = fmt.Errorf("site %s: the PostgreSQL schema %s of a dropped site is there: %w", name, schemaName(name), fs.ErrExist)
	}
	return err
}

// restoring is a site that is being made where nobody sees it.
type restoring struct {
	set     *Set
	archive *backup.Archive
	name    string
	done    *Restored

	mark   string // of this attempt
	folder string // becomes the site's
	schema string // becomes the site's; empty: an SQLite file in the folder
	staged string // what schema was called before it became the site's
}

// stage fills a folder, and a schema of PostgreSQL, with everything.
func (r *restoring) stage(ctx context.Context) (err error) {
	l := r.set.c.Layout
	r.mark = strings.ToLower(rand.Text()[:8])
	if err := l.Make(); err != nil {
		return err
	}
	top := filepath.Join(l.Data, "restoring")
	if err := os.MkdirAll(top, 0o700); err != nil {
		return err
	}
	r.folder = filepath.Join(top, r.name+"-"+r.mark)
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return err
	}
	config, err := r.config()
	if err != nil {
		return err
	}
	url := filepath.Join(r.folder, "site.db")
	if r.set.c.Database != "" {
		url, r.schema = r.set.c.Database, "restoring_"+r.mark
	}
	o := r.set.c.Store
	o.Logger = r.set.c.Logger
	db, err := store.Open(ctx, url, r.schema, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := openStorage(config, r.name, filepath.Join(r.folder, "files"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	spool := filepath.Join(r.folder, "files", "tmp")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return err
	}
	plugins := filepath.Join(r.folder, "plugins")
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
	dt, err := stateTable()
	if err != nil {
		return err
	}
	return db.Write(ctx, document.Alone, func(tx document.Tx) error {
		if err := tx.Migrate(ctx, dt); err != nil {
			return err
		}
		return tx.Insert(ctx, newState(dt, sealed, ""))
	})
}

// config writes the configuration. A site under another name does not take the
// hosts and the bucket's folder of the one it was made from.
func (r *restoring) config() (*site.Config, error) {
	c, err := site.ParseConfig(r.archive.Config)
	if err != nil {
		return nil, err
	}
	if r.name != r.archive.Header.Site {
		if c, err = r.asAnother(c); err != nil {
			return nil, err
		}
	}
	text, err := c.MarshalIndent()
	if err != nil {
		return nil, err
	}
	return c, os.WriteFile(filepath.Join(r.folder, filepath.Base(r.set.c.Layout.Config(r.name))), text, 0o600)
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

// settled is how long after its folder is gone every server has let go of a
// site.
const settled = 2 * pollEvery

// publish puts the site in its place. One that is there is moved aside first, and
// has no servers any more when its database is: they would open connections to
// what takes its place. After a failure it is where it was.
func (r *restoring) publish(ctx context.Context, replace bool) (err error) {
	l := r.set.c.Layout
	if err := r.set.free(ctx, r.name); err != nil { // it may have come meanwhile
		if !replace || !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if l.Exists(r.name) {
		moved, err := l.Drop(r.name)
		if err != nil {
			return err
		}
		r.done.Moved = moved
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.putBack())
		}
	}()
	if r.done.Moved != "" {
		select {
		case <-time.After(settled):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.schema != "" {
		if err := r.publishSchema(ctx); err != nil {
			return err
		}
	}
	return os.Rename(r.folder, l.Site(r.name))
}

func (r *restoring) publishSchema(ctx context.Context) error {
	live, aside := schemaName(r.name), "dropped_"+r.name+"_"+r.mark
	if len(aside) > 63 {
		aside = aside[:54] + "_" + r.mark // as long as a name may be
	}
	found, err := store.HasSchema(ctx, r.set.c.Database, live)
	if err != nil {
		return err
	}
	if err := store.RenameSchema(ctx, r.set.c.Database, r.schema, live, aside); err != nil {
		return err
	}
	r.staged, r.schema = r.schema, ""
	if found {
		r.done.Schema = aside
	}
	return nil
}

// putBack undoes what publish has done so far.
func (r *restoring) putBack() error {
	if r.staged != "" {
		live, ctx := schemaName(r.name), context.Background()
		var err error
		if r.done.Schema != "" {
			err = store.RenameSchema(ctx, r.set.c.Database, r.done.Schema, live, r.staged)
		} else {
			err = store.RenameSchema(ctx, r.set.c.Database, live, r.staged, "")
		}
		if err != nil {
			return err
		}
		r.schema, r.staged = r.staged, ""
	}
	if r.done.Moved == "" {
		return nil
	}
	if err := os.Rename(r.done.Moved, r.set.c.Layout.Site(r.name)); err != nil {
		return fmt.Errorf("put the site back from %s: %w", r.done.Moved, err)
	}
	return nil
}

// discard removes what a failure has left.
func (r *restoring) discard() error {
	var err error
	if r.schema != "" {
		err = store.Drop(context.Background(), r.set.c.Database, r.schema)
	}
	if r.folder != "" {
		err = errors.Join(err, os.RemoveAll(r.folder))
	}
	return err
}
