package sites

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"armature/core/fault"
)

// markerFile notes in a site's folder which database the site has. Where the
// database is missing it says that there was one: a site that begins anew would
// take what is left of the old one for nobody's.
const markerFile = ".database"

// errLost says that a site has no database, and had one.
var errLost = errors.New("the database is missing")

// marker is what the file holds.
type marker struct {
	Identity string `json:"identity"` // migration.State
}

func readMarker(dir string) (m marker, err error) {
	text, err := os.ReadFile(filepath.Join(dir, markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read %s: %w", markerFile, err)
	}
	return m, nil
}

// note writes the marker of a site that was opened, unless it is there. The
// folder may be missing: on PostgreSQL it is made when something is kept in it.
func (m marker) note(dir string) error {
	if before, err := readMarker(dir); err == nil && before == m {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return replaceFile(dir, markerFile, append(text, '\n'))
}

// lost is the answer where a site that had a database would begin with an empty
// one; nil where it may.
func (s *Set) lost(r *Record) error {
	dir := s.c.Layout.Site(r.Folder)
	m, err := readMarker(dir)
	if err != nil {
		return err
	}
	if s.c.Recreate || m.Identity == "" && !hasFiles(s.c.Layout.Files(r.Folder)) {
		return nil
	}
	return fault.Wrap(fault.Unavailable, "SiteDatabaseMissingError",
		fmt.Errorf("%w: %s shows that there was one; bring it back, or begin with an empty one by --recreate", errLost, dir),
		"The database of the site %s is missing", r.Name)
}

// databaseGone reports whether the database of a site is a file, and not there.
// Opening it would make it.
func databaseGone(p Place) bool {
	if strings.Contains(p.Database, "://") {
		return false
	}
	info, err := os.Stat(p.Database)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// hasFiles reports whether a folder of files has any but those on their way in.
func hasFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is no reason to begin anew; the opening says so
		case d.IsDir() && path == filepath.Join(dir, "tmp"):
			return fs.SkipDir
		case !d.IsDir():
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
