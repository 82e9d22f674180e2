package datafolder

import (
	"fmt"
	"os"
	"path/filepath"
)

// Layout is where things are in the data folder. The folder of a site is named as
// registry.Record says, which is the site's name as a rule.
type Layout struct{ Data string }

// MasterKey is the file that holds the master key.
func (l Layout) MasterKey() string { return filepath.Join(l.Data, "secret.key") }

// Plugins is the folder of the plugins that serve every site.
func (l Layout) Plugins() string { return filepath.Join(l.Data, "plugins") }

// Queue is the file in which the jobs of sites in files are handed over.
func (l Layout) Queue() string { return filepath.Join(l.Data, "jobs.db") }

// Cache is the folder of compiled plugins; losing it costs time only.
func (l Layout) Cache() string { return filepath.Join(l.Data, "cache") }

// Bundles is the folder with copies of the plugins from folders that serve, for
// the case that a newer version has to wait for approval.
func (l Layout) Bundles() string { return filepath.Join(l.Data, "bundles") }

// Certificates is the folder of the ACME account, its certificates and their
// keys.
func (l Layout) Certificates() string { return filepath.Join(l.Data, "certificates") }

// Sites is the folder with a folder for every site.
func (l Layout) Sites() string { return filepath.Join(l.Data, "sites") }

// Site is the folder of one site.
func (l Layout) Site(folder string) string { return filepath.Join(l.Sites(), folder) }

// SitePlugins is the folder of the plugins that serve one site only.
func (l Layout) SitePlugins(folder string) string { return filepath.Join(l.Site(folder), "plugins") }

// Public is the folder of a site's frontend.
func (l Layout) Public(folder string) string { return filepath.Join(l.Site(folder), "public") }

// Published is the folder of the frontends of a site that were published.
func (l Layout) Published(folder string) string { return filepath.Join(l.Site(folder), "published") }

// Files is the folder of a site's files, where they are on disk.
func (l Layout) Files(folder string) string { return filepath.Join(l.Site(folder), "files") }

// Dropped is the folder of the sites that were dropped, where a site is a folder.
func (l Layout) Dropped() string { return filepath.Join(l.Data, "dropped") }

// Restoring is the folder of the sites that are being made, where a site is a folder.
func (l Layout) Restoring() string { return filepath.Join(l.Data, "restoring") }

// Config is the file that holds a site's configuration, where that is in a file.
func (l Layout) Config(folder string) string {
	return filepath.Join(l.Site(folder), ConfigFile)
}

// ConfigFile is the name of that file.
const ConfigFile = "site_config.json"

// Make makes the folders of the installation, but for the cache: whoever keeps
// something there makes it, or goes without. Others than the owner may not
// look into them.
func (l Layout) Make() error {
	for _, dir := range []string{l.Data, l.Sites(), l.Plugins()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}
