package folders

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"armature/core/site"
	"armature/core/sites/registry"
)

// Look implements Registry. What cannot be looked at now is as it was: nobody has
// dropped it.
func (f *Folders) Look(context.Context) ([]*registry.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names, err := Names(f.Layout)
	if err != nil {
		return nil, err
	}
	now := make(map[string]*seen, len(names))
	list := make([]*registry.Record, 0, len(names))
	for _, name := range names {
		before := f.seen[name]
		folder, err := os.Stat(f.Site(name))
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil && before == nil:
			continue // gone since the list was made, or nothing is known of it
		case err != nil:
			folder = before.folder
		}
		s := f.look(name, folder, before)
		now[name] = s
		list = append(list, s.record)
	}
	f.seen = now
	return list, nil
}

// look reads the configuration of a site where its file is another than before.
// One that is wrong leaves the one before in use.
func (f *Folders) look(name string, folder fs.FileInfo, before *seen) *seen {
	if before != nil && !os.SameFile(folder, before.folder) {
		before = nil // another site
	}
	file, err := os.Stat(f.Config(name))
	if err != nil {
		file = nil
	}
	if before != nil && sameFile(file, before.file) {
		return before
	}
	r := &registry.Record{Name: name, Place: registry.Place{Folder: name, Database: f.database(name)}}
	if before != nil {
		r.ID = before.record.ID
	} else {
		f.made++
		r.ID = strconv.Itoa(f.made)
	}
	r.Config, r.Broken = f.readConfig(name)
	if r.Broken != nil {
		f.log.Error("read the configuration of a site", "site", name, "error", r.Broken)
		if r.Config = (&site.Config{}); before != nil {
			r.Config = before.record.Config
		}
	}
	return &seen{r, folder, file}
}

// sameFile reports whether a file is the one it was before, unchanged.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Enter implements Registry.
func (f *Folders) Enter(_ context.Context, r *registry.Record) error {
	folder, err := os.Stat(f.Site(r.Name))
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.seen[r.Name]; s == nil || s.record.ID != r.ID || !os.SameFile(folder, s.folder) {
		return registry.Missing(r.Name)
	}
	return nil
}
