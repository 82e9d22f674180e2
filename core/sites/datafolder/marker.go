package datafolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// markerFile notes in a site's folder which database the site has. Where the
// database is missing it says that there was one: a site that begins anew would
// take what is left of the old one for nobody's.
const markerFile = ".database"

// Marker is what the file holds. The zero Marker is that of a site that had none.
type Marker struct {
	Identity string `json:"identity"` // migration.State
}

// ReadMarker reads the marker in the folder of a site.
func ReadMarker(dir string) (m Marker, err error) {
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

// Note writes the marker of a site that was opened, unless it is there. The
// folder may be missing: on PostgreSQL it is made when something is kept in it.
func (m Marker) Note(dir string) error {
	if before, err := ReadMarker(dir); err == nil && before == m {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return Replace(dir, markerFile, append(text, '\n'))
}

// HasFiles reports whether a folder of files has any but those on their way in.
func HasFiles(dir string) bool {
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
