package sites

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"armature/core/site"
)

// stagedFolder is a site that is made in a folder beside those of the sites.
type stagedFolder struct {
	f    *folders
	name string
	dir  string
}

// Stage implements Registry.
func (f *folders) Stage(_ context.Context, name string) (Stage, error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	top := filepath.Join(f.Data, "restoring")
	if err := os.MkdirAll(top, 0o700); err != nil {
		return nil, err
	}
	s := &stagedFolder{f, name, filepath.Join(top, name+"-"+newMark())}
	return s, os.Mkdir(s.dir, 0o700)
}

// newMark tells what is made now from whatever was made before.
func newMark() string { return strings.ToLower(rand.Text()[:8]) }

func (s *stagedFolder) Dir() string { return s.dir }

func (s *stagedFolder) Place() Place {
	return Place{Folder: s.name, Database: filepath.Join(s.dir, "site.db")}
}

// Publish implements Stage. The site that is there is moved aside first, and has
// no servers any more when its folder is another's. After a failure it is where
// it was.
func (s *stagedFolder) Publish(ctx context.Context, config *site.Config, replace bool) (replaced Kept, err error) {
	if err := writeConfig(s.dir, config); err != nil {
		return Kept{}, err
	}
	if s.f.exists(s.name) {
		if !replace {
			return Kept{}, taken(s.name)
		}
		if replaced, err = s.f.Drop(ctx, s.name); err != nil {
			return Kept{}, err
		}
		defer func() {
			if err == nil {
				return
			}
			if back := os.Rename(replaced.Folder, s.f.Site(s.name)); back != nil {
				err = errors.Join(err, fmt.Errorf("put the site back from %s: %w", replaced.Folder, back))
			}
		}()
		if err := settle(ctx); err != nil {
			return Kept{}, err
		}
	}
	return replaced, os.Rename(s.dir, s.f.Site(s.name))
}

func (s *stagedFolder) Discard() error { return os.RemoveAll(s.dir) }

// Sweep implements Registry. A site that is being made is written to all the time.
func (f *folders) Sweep(ctx context.Context) error {
	return RemoveAbandoned(ctx, filepath.Join(f.Data, "restoring"), "", f.log)
}
