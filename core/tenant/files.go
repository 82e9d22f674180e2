package tenant

import (
	"path/filepath"

	"armature/core/file"
	"armature/core/file/backend"
	"armature/core/site"
)

// openFiles makes the site's file service: on disk, or in the bucket that the
// configuration names.
func (t *Tenant) openFiles() (err error) {
	if err := t.moveFiles(t.Site.Config()); err != nil {
		return err
	}
	t.opened.add("the file storage", t.storage.Close)
	t.Files, err = file.New(file.Config{
		Store: t.Store, Documents: t.documents, Storage: &t.storage,
		Spool: Spool(t.home.Files), Shrinker: t.c.Shrinker, Identity: t.found.Identity, Call: file.RunBy(t.Methods), Now: t.Site.Now, Logger: t.log,
		Setting: t.setting, Quota: t.quota,
	})
	return err
}

// moveFiles has files kept where a configuration says.
func (t *Tenant) moveFiles(config *site.Config) error {
	to, err := backend.Open(config, t.home.Folder, t.home.Files)
	if err != nil {
		return err
	}
	return t.storage.To(to)
}

// Spool is where what is being uploaded lies, beside the files of a site.
func Spool(files string) string { return filepath.Join(files, "tmp") }
