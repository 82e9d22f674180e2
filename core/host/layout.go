package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"armature/core/site"
)

// Layout is where things are in the data folder.
type Layout struct{ Data string }

// MasterKey is the file that holds the master key.
func (l Layout) MasterKey() string { return filepath.Join(l.Data, "secret.key") }

// Plugins is the folder of the plugins that serve every site.
func (l Layout) Plugins() string { return filepath.Join(l.Data, "plugins") }

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
func (l Layout) Site(name string) string { return filepath.Join(l.Sites(), name) }

// SitePlugins is the folder of the plugins that serve one site only.
func (l Layout) SitePlugins(name string) string { return filepath.Join(l.Site(name), "plugins") }

// Files is the folder of a site's files, where they are on disk.
func (l Layout) Files(name string) string { return filepath.Join(l.Site(name), "files") }

// Config is the file that holds a site's configuration.
func (l Layout) Config(name string) string { return filepath.Join(l.Site(name), "site_config.json") }

// tendedFile was written when the site's housekeeping was last done.
func (l Layout) tendedFile(name string) string { return filepath.Join(l.Site(name), ".tended") }

func (l Layout) database(name string) string { return filepath.Join(l.Site(name), "site.db") }

// Make makes the folders of the installation. Others than the owner may not
// look into them.
func (l Layout) Make() error {
	for _, dir := range []string{l.Data, l.Sites(), l.Plugins(), l.Cache()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}

// List returns the names of the sites there are, sorted. A site exists from the
// moment its folder does.
func (l Layout) List() ([]string, error) {
	entries, err := os.ReadDir(l.Sites())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sites: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && site.CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Exists reports whether there is a site of that name.
func (l Layout) Exists(name string) bool {
	info, err := os.Stat(l.Site(name))
	return err == nil && info.IsDir()
}

// Create makes the folder of a site; fs.ErrExist when there is one.
func (l Layout) Create(name string) error {
	if err := site.CheckName(name); err != nil {
		return err
	}
	if err := l.Make(); err != nil {
		return err
	}
	if err := os.Mkdir(l.Site(name), 0o700); err != nil {
		return fmt.Errorf("make site %s: %w", name, err)
	}
	return os.MkdirAll(l.SitePlugins(name), 0o700)
}

// ReadConfig reads a site's configuration; a missing file is an empty one.
func (l Layout) ReadConfig(name string) (*site.Config, error) {
	text, err := os.ReadFile(l.Config(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("site %s: %w", name, err)
	}
	c, err := site.ParseConfig(text)
	if err == nil {
		err = checkConfig(c)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Config(name), err)
	}
	return c, nil
}

// WriteConfig replaces a site's configuration. Who reads it meanwhile sees the
// old one or the new one, never half of it.
func (l Layout) WriteConfig(name string, c *site.Config) error {
	if err := checkConfig(c); err != nil {
		return err
	}
	text, err := c.MarshalIndent()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(l.Site(name), ".site_config-*")
	if err != nil {
		return fmt.Errorf("write the configuration of site %s: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), l.Config(name))
	}
	if err != nil {
		return fmt.Errorf("write the configuration of site %s: %w", name, err)
	}
	return nil
}

// Drop moves a site's folder out of the way and returns where to. A server that
// runs on the folder closes the site within a second; until then it goes on
// using the files it has open.
func (l Layout) Drop(name string) (string, error) {
	if !l.Exists(name) {
		return "", fmt.Errorf("site %s: %w", name, fs.ErrNotExist)
	}
	dir := filepath.Join(l.Data, "dropped")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	to := filepath.Join(dir, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", name, n))
	}
	return to, os.Rename(l.Site(name), to)
}
