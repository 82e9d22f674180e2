package sites

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"armature/core/fault"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// errLost says that a site has no database, and had one.
var errLost = errors.New("the database is missing")

// homes is where sites keep what they have.
type homes struct {
	layout   datafolder.Layout
	recreate bool // sites whose database is missing begin with an empty one
}

// of is the home of a site, if it may be opened.
func (h homes) of(r *registry.Record) (tenant.Home, error) {
	if r.Broken != nil {
		return tenant.Home{}, fmt.Errorf("open site %s: %w", r.Name, r.Broken)
	}
	lost := h.lost(r)
	if lost != nil && databaseGone(r.Place) {
		return tenant.Home{}, fmt.Errorf("open site %s: %w", r.Name, lost)
	}
	l := h.layout
	return tenant.Home{
		Name: r.Name, Config: r.Config, Folder: r.Folder, Dir: l.Site(r.Folder),
		Files: l.Files(r.Folder), Plugins: l.SitePlugins(r.Folder), Public: l.Public(r.Folder), Published: l.Published(r.Folder),
		Database: r.Database, Schema: r.Schema, Lost: lost,
	}, nil
}

// lost is the answer where a site that had a database would begin with an empty
// one; nil where it may.
func (h homes) lost(r *registry.Record) error {
	dir := h.layout.Site(r.Folder)
	m, err := datafolder.ReadMarker(dir)
	if err != nil {
		return err
	}
	if h.recreate || m.Identity == "" && !datafolder.HasFiles(h.layout.Files(r.Folder)) {
		return nil
	}
	return fault.Wrap(fault.Unavailable, "SiteDatabaseMissingError",
		fmt.Errorf("%w: %s shows that there was one; bring it back, or begin with an empty one by --recreate", errLost, dir),
		"The database of the site %s is missing", r.Name)
}

// databaseGone reports whether the database of a site is a file, and not there.
// Opening it would make it.
func databaseGone(p registry.Place) bool {
	if strings.Contains(p.Database, "://") {
		return false
	}
	info, err := os.Stat(p.Database)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// noteDatabase notes in the folder of a site which database it has. On PostgreSQL a
// machine may have no folder.
func noteDatabase(t *tenant.Tenant) {
	dir := t.Home().Dir
	if _, err := os.Stat(dir); err != nil {
		return
	}
	if err := (datafolder.Marker{Identity: t.Identity()}).Note(dir); err != nil {
		t.Log().Error("note that the site has a database", "error", err)
	}
}
