// Package publish keeps the frontends of a site that were published: archives that were
// looked at and unpacked, a few versions of them, one of which core/public serves.
package publish

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"armature/core/fault"
)

// keep is how many versions stay, the one that is served among them.
const keep = 5

// abandoned is how old a folder is that no version has, of a publication that was
// broken off, before it is deleted.
const abandoned = time.Hour

// listFile names the versions, in the folder that they are in.
const listFile = "versions.json"

// Version is a frontend that was published.
type Version struct {
	Name  string    `json:"version"` // also of its folder
	At    time.Time `json:"published_at"`
	By    string    `json:"published_by"`
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
}

// Config is what the published frontends of a site need.
type Config struct {
	Dir      string                                       // their folder, which may not be there
	Reserved func(path string) bool                       // whether the platform answers a path; nil: none
	Admit    func(ctx context.Context, bytes int64) error // whether the site may have so much more; nil: it may
	Count    func(bytes int64)                            // told how much more, or less, there is; nil: nobody is
	Now      func() time.Time                             // nil: time.Now
	Logger   *slog.Logger                                 // nil: nothing is logged
}

// Versions are the frontends of a site that were published, each in a folder that no
// longer changes, and a list of them that is replaced as a whole: a request sees one
// version or another. Processes that publish at the same moment both succeed, and the
// later one is served. It may be used concurrently.
type Versions struct {
	c  Config
	mu sync.Mutex // of who publishes
}

// New makes them, of what was published before.
func New(c Config) *Versions {
	if c.Reserved == nil {
		c.Reserved = func(string) bool { return false }
	}
	if c.Admit == nil {
		c.Admit = func(context.Context, int64) error { return nil }
	}
	if c.Count == nil {
		c.Count = func(int64) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Versions{c: c}
}

// List is the versions, the one that is served last.
func (v *Versions) List() ([]Version, error) {
	text, err := os.ReadFile(filepath.Join(v.c.Dir, listFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Version
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", listFile, err)
	}
	for _, one := range list {
		if !filepath.IsLocal(one.Name) || strings.ContainsAny(one.Name, `/\`) {
			return nil, fmt.Errorf("%s: %q is no version", listFile, one.Name)
		}
	}
	return list, nil
}

// Bytes is how much room the versions take.
func (v *Versions) Bytes() (n int64, err error) {
	list, err := v.List()
	for _, one := range list {
		n += one.Bytes
	}
	return n, err
}

// Folders are those of the versions, the one that is served first; none: nothing was
// published.
func (v *Versions) Folders() []string {
	list, err := v.List()
	if err != nil {
		v.c.Logger.Error("read which frontends were published", "error", err)
		return nil
	}
	dirs := make([]string, 0, len(list))
	for _, one := range slices.Backward(list) {
		dirs = append(dirs, filepath.Join(v.c.Dir, one.Name))
	}
	return dirs
}

// Publish makes the files of a ZIP archive the frontend, all of them at once, and
// forgets the oldest version where there are more than are kept. By is who does it.
// Errors: ValidationError for an archive that cannot be served or is too large;
// QuotaExceededError; nothing has changed then.
func (v *Versions) Publish(ctx context.Context, archive []byte, by string) (*Version, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	files, size, err := v.examine(archive)
	if err != nil {
		return nil, err
	}
	if err := v.c.Admit(ctx, size); err != nil {
		return nil, err
	}
	list, err := v.List()
	if err != nil {
		return nil, err
	}
	now := v.c.Now().UTC()
	next := Version{Name: now.Format("20060102-150405-") + strings.ToLower(rand.Text()[:6]), At: now, By: by, Files: len(files), Bytes: size}
	staged := filepath.Join(v.c.Dir, ".new-"+next.Name)
	defer os.RemoveAll(staged)
	if err := unpack(ctx, staged, files); err != nil {
		return nil, err
	}
	if err := os.Rename(staged, filepath.Join(v.c.Dir, next.Name)); err != nil {
		return nil, err
	}
	list = append(list, next)
	old := list[:max(0, len(list)-keep)]
	if err := v.replace(list[len(old):]); err != nil {
		return nil, errors.Join(err, os.RemoveAll(filepath.Join(v.c.Dir, next.Name)))
	}
	v.c.Count(size)
	v.remove(old)
	v.sweep(now, list)
	return &next, nil
}

// Rollback has the version served that was before this one, and deletes this one. What
// was before the first is the folder public. Error: ValidationError where nothing was
// published.
func (v *Versions) Rollback(context.Context) ([]Version, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list, err := v.List()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fault.Invalid("", "No version of the frontend was published that could be taken back")
	}
	last := len(list) - 1
	if err := v.replace(list[:last]); err != nil {
		return nil, err
	}
	v.remove(list[last:])
	return list[:last], nil
}

// Save puts all that is needed to have the versions elsewhere: their files, and last the
// list. What another process publishes meanwhile is in it, and what it takes back is not
// listed.
func (v *Versions) Save(ctx context.Context, put func(name string, content io.Reader) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	saved := map[string]bool{}
	for {
		list, err := v.List()
		if err != nil || len(list) == 0 {
			return err
		}
		again := false
		for _, one := range list {
			if saved[one.Name] {
				continue
			}
			err := v.saveFiles(ctx, one.Name, put)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				again = true // the list is another one by now
			case err != nil:
				return err
			default:
				saved[one.Name] = true
			}
		}
		if again {
			if err := ctx.Err(); err != nil {
				return err
			}
			continue
		}
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		return put(listFile, bytes.NewReader(text))
	}
}

// saveFiles puts those of one version. Error: fs.ErrNotExist where it is taken back.
func (v *Versions) saveFiles(ctx context.Context, version string, put func(name string, content io.Reader) error) error {
	return filepath.WalkDir(filepath.Join(v.c.Dir, version), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		name, err := filepath.Rel(v.c.Dir, path)
		if err != nil {
			return err
		}
		content, err := os.Open(path)
		if err != nil {
			return err
		}
		err = put(filepath.ToSlash(name), content)
		return errors.Join(err, content.Close())
	})
}

// replace writes the list, of which nobody ever sees a part.
func (v *Versions) replace(list []Version) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	temporary := filepath.Join(v.c.Dir, ".new-"+rand.Text())
	defer os.Remove(temporary)
	if err := write(temporary, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(v.c.Dir, listFile))
}

// remove deletes versions that are on the list no more. A request that has one open
// may miss a part of it.
func (v *Versions) remove(old []Version) {
	for _, one := range old {
		if err := os.RemoveAll(filepath.Join(v.c.Dir, one.Name)); err != nil {
			v.c.Logger.Error("delete an old version of the frontend", "version", one.Name, "error", err)
			continue
		}
		v.c.Count(-one.Bytes)
	}
}

// sweep deletes what publications have left that were broken off.
func (v *Versions) sweep(now time.Time, list []Version) {
	entries, err := os.ReadDir(v.c.Dir)
	if err != nil {
		v.c.Logger.Error("look for what was left of frontends", "error", err)
		return
	}
	for _, e := range entries {
		if e.Name() == listFile || slices.ContainsFunc(list, func(one Version) bool { return one.Name == e.Name() }) {
			continue
		}
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > abandoned {
			err = os.RemoveAll(filepath.Join(v.c.Dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.c.Logger.Error("delete what was left of a frontend", "name", e.Name(), "error", err)
		}
	}
}
