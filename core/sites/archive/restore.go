package archive

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"armature/core/backup"
	"armature/core/document"
	"armature/core/file/backend"
	"armature/core/migration"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/registry"
	"armature/core/store"
	"armature/core/tenant"
)

// Restored is what came of an archive.
type Restored struct {
	Site    string   `json:"name"`
	Records int64    `json:"records"`
	Files   int64    `json:"files"`
	Moved   string   `json:"moved_to,omitempty"` // folder of the site that was replaced
	Schema  string   `json:"schema,omitempty"`   // PostgreSQL schema of the site that was replaced
	Paused  string   `json:"paused,omitempty"`   // why nothing is sent from it
	Notes   []string `json:"notes,omitempty"`    // what differs from the site that was backed up
}

// RestoreOptions say what to make of an archive.
type RestoreOptions struct {
	As      string // name of the site; empty: the archive's
	Replace bool   // a site of the name is dropped, not deleted
	Sending bool   // what it has to send is sent: it takes the place of its original
	Tell    backup.Progress
}

// CheckCover refuses an archive that could not be restored, by what it says of itself
// without a passphrase: one that only newer programs can use, or a name that is
// taken.
func CheckCover(ctx context.Context, set *sites.Set, c *backup.Cover, o RestoreOptions) error {
	if c.Format == 1 {
		return nil // it says nothing
	}
	return restorable(ctx, set, c.Header, o)
}

func restorable(ctx context.Context, set *sites.Set, h backup.Header, o RestoreOptions) error {
	as := cmp.Or(o.As, h.Site)
	if err := site.CheckName(as); err != nil {
		return err
	}
	c := set.Config()
	if err := c.Reads(migration.State{Format: h.DataFormat, Reader: h.DataReader}); err != nil {
		return err
	}
	if o.Replace {
		return nil
	}
	return set.Free(ctx, as)
}

// Restore makes a site of an archive: under its own name, or as another. Nothing
// is seen of it before it is whole and was compared with the archive; what fails
// leaves nothing behind. A site of the name is fs.ErrExist, unless it is to be
// replaced. What comes of it is a copy, from which nothing is sent (Tenant.Outgoing)
// until somebody says so, unless it takes the place of the site it was made from.
func Restore(ctx context.Context, set *sites.Set, file, passphrase string, o RestoreOptions) (*Restored, error) {
	a, err := backup.Open(ctx, file, passphrase, o.Tell)
	if err != nil {
		return nil, err
	}
	if err := restorable(ctx, set, a.Header, o); err != nil {
		return nil, err
	}
	as := cmp.Or(o.As, a.Header.Site)
	r := &restoring{set: set, archive: a, name: as, tell: o.Tell, done: &Restored{Site: as, Records: a.Manifest.Records()}}
	r.done.Files, _ = a.Manifest.Files()
	if !o.Sending {
		r.done.Paused = r.pausedAs(ctx, o.Replace)
	}
	if r.stage, err = set.Registry().Stage(ctx, as); err != nil {
		return nil, fmt.Errorf("restore %s: %w", as, err)
	}
	if err := r.run(ctx, o.Replace); err != nil {
		return nil, errors.Join(fmt.Errorf("restore %s: %w", as, err), r.stage.Discard())
	}
	_, err = set.Sites(ctx) // the set is told of it
	return r.done, err
}

// restoring is a site that is being made where nobody sees it.
type restoring struct {
	set     *sites.Set
	archive *backup.Archive
	stage   registry.Stage
	name    string
	tell    backup.Progress
	done    *Restored
}

// run fills the stage and publishes it.
func (r *restoring) run(ctx context.Context, replace bool) error {
	config, err := r.config(ctx)
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
	place, dir, c := r.stage.Place(), r.stage.Dir(), r.set.Config()
	o := c.Store
	o.Logger = c.Logger
	db, err := store.Open(ctx, place.Database, place.Schema, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := backend.Open(config, place.Folder, filepath.Join(dir, "files"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	spool := tenant.Spool(filepath.Join(dir, "files"))
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return err
	}
	plugins := filepath.Join(dir, "plugins")
	if err := os.MkdirAll(plugins, 0o700); err != nil {
		return err
	}
	to, err := tenant.Archived(db, files, plugins)
	if err != nil {
		return err
	}
	to.Published = filepath.Join(dir, "published")
	if err := r.archive.Restore(ctx, to, spool, r.tell); err != nil {
		return err
	}
	return r.storeKey(ctx, db)
}

// storeKey seals the site's key with the master key of this installation.
func (r *restoring) storeKey(ctx context.Context, db *store.Store) error {
	sealed, err := r.set.Config().Master.SealKey(r.archive.Key)
	if err != nil {
		return err
	}
	return db.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		return migration.Write(ctx, tx, migration.State{
			Sealed: sealed, Format: r.archive.Header.DataFormat, Reader: r.archive.Header.DataReader,
			Lineage: r.archive.Header.Lineage, Paused: r.done.Paused,
		})
	})
}

// config is the configuration. A site under another name does not take the hosts
// and the bucket's folder of the one it was made from.
func (r *restoring) config(ctx context.Context) (*site.Config, error) {
	c, err := registry.ParseConfig(r.archive.Config)
	if err == nil && r.name != r.archive.Header.Site {
		c, err = r.asAnother(c)
	}
	if err == nil {
		c, err = r.withinQuotas(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return r.apart(c)
}

// withinQuotas has a site that takes the place of another go by that one's quotas:
// what the operator lets it have is not undone by going back to yesterday.
func (r *restoring) withinQuotas(ctx context.Context, c *site.Config) (*site.Config, error) {
	list, err := r.set.Sites(ctx)
	if err != nil {
		return nil, err
	}
	for _, replaced := range list {
		if replaced.Name != r.name || replaced.Config == nil {
			continue
		}
		quotas, ok := replaced.Config.Get(site.QuotasKey)
		if !ok {
			quotas = json.RawMessage("null")
		}
		return c.With(site.QuotasKey, quotas)
	}
	return c, nil
}

// apart keeps the files in another part of the bucket where a site that is there
// has the same one: it is about to be dropped, and what is deleted on the new one
// must stay for the case that it is brought back.
func (r *restoring) apart(c *site.Config) (*site.Config, error) {
	own := &registry.Record{Config: c, Place: r.stage.Place()}
	bucket, prefix := own.Bucket()
	taken := slices.ContainsFunc(r.set.Known(), func(other *registry.Record) bool {
		b, p := other.Bucket()
		return b == bucket && p == prefix
	})
	if bucket == "" || !taken {
		return c, nil
	}
	var settings map[string]json.RawMessage
	if err := json.Unmarshal(backend.Settings(c), &settings); err != nil {
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
	return c.With(backend.Setting, text)
}

func (r *restoring) asAnother(c *site.Config) (*site.Config, error) {
	taken := len(c.Hosts()) == 0 && len(r.set.Known()) > 0 || slices.ContainsFunc(c.Hosts(), r.set.Named)
	var err error
	if taken {
		hosts, _ := json.Marshal([]string{r.name})
		if c, err = c.With("hosts", hosts); err != nil {
			return nil, err
		}
		r.done.Notes = append(r.done.Notes, fmt.Sprintf("another site answers the hosts of the archive: hosts is %s now", hosts))
	}
	raw, ok := c.Get(backend.Setting)
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
	return c.With(backend.Setting, text)
}

// pausedAs is why a site that comes out of an archive is paused; empty where it is
// not. It is a copy, whose original may go on elsewhere, unless it takes the place
// of what it was made from: then it is as that was.
func (r *restoring) pausedAs(ctx context.Context, replace bool) string {
	why := fmt.Sprintf("restored from an archive of site %s of %s", r.archive.Header.Site, r.archive.Header.Made.Format("2006-01-02 15:04 MST"))
	if !replace || r.archive.Header.Lineage == "" {
		return why
	}
	t, err := r.set.Open(ctx, r.name)
	if err != nil || t.Origin() != r.archive.Header.Lineage {
		return why // what cannot be opened cannot say whose it is
	}
	return t.Paused()
}
