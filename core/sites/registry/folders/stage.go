package folders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"armature/core/site"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
)

// stagedFolder is a site that is made in a folder beside those of the sites.
type stagedFolder struct {
	f    *Folders
	name string
	dir  string
}

// Stage implements Registry.
func (f *Folders) Stage(_ context.Context, name string) (registry.Stage, error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	top := f.Restoring()
	if err := os.MkdirAll(top, 0o700); err != nil {
		return nil, err
	}
	s := &stagedFolder{f, name, filepath.Join(top, name+"-"+registry.NewMark())}
	return s, os.Mkdir(s.dir, 0o700)
}

func (s *stagedFolder) Dir() string { return s.dir }

func (s *stagedFolder) Place() registry.Place {
	return registry.Place{Folder: s.name, Database: filepath.Join(s.dir, "site.db")}
}

// Publish implements Stage. The site that is there is moved aside first, and has
// no servers any more when its folder is another's. After a failure it is where
// it was.
func (s *stagedFolder) Publish(ctx context.Context, config *site.Config, replace bool) (replaced registry.Kept, err error) {
	if err := writeConfig(s.dir, config); err != nil {
		return registry.Kept{}, err
	}
	if s.f.exists(s.name) {
		if !replace {
			return registry.Kept{}, registry.Taken(s.name)
		}
		if replaced, err = s.f.Drop(ctx, s.name); err != nil {
			return registry.Kept{}, err
		}
		defer func() {
			if err == nil {
				return
			}
			if back := os.Rename(replaced.Folder, s.f.Site(s.name)); back != nil {
				err = errors.Join(err, fmt.Errorf("put the site back from %s: %w", replaced.Folder, back))
			}
		}()
		if err := registry.Settle(ctx); err != nil {
			return registry.Kept{}, err
		}
	}
	return replaced, os.Rename(s.dir, s.f.Site(s.name))
}

func (s *stagedFolder) Discard() error { return os.RemoveAll(s.dir) }

// Sweep implements Registry. A site that is being made is written to all the time.
func (f *Folders) Sweep(ctx context.Context) error {
	return datafolder.RemoveAbandoned(ctx, f.Restoring(), "", f.log)
}
