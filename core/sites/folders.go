package sites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"armature/core/site"
)

// folders is the registry of one machine: a site is a folder, and exists from the
// moment its folder does; its configuration is a file in it, which people may
// edit. Commands and servers on one data folder need no protocol between them.
type folders struct {
	Layout
	log *slog.Logger

	mu   sync.Mutex
	made int              // numbers the sites that were seen
	seen map[string]*seen // by name
}

// seen is a site as the last look found it.
type seen struct {
	record *Record
	folder fs.FileInfo
	file   fs.FileInfo // of the configuration; nil: there was none
}

func newFolders(l Layout, log *slog.Logger) *folders {
	return &folders{Layout: l, log: log, seen: map[string]*seen{}}
}

// Look implements Registry. What cannot be looked at now is as it was: nobody has
// dropped it.
func (f *folders) Look(context.Context) ([]*Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	now := make(map[string]*seen, len(names))
	list := make([]*Record, 0, len(names))
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

// names lists the folders, sorted.
func (f *folders) names() ([]string, error) {
	entries, err := os.ReadDir(f.Sites())
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

// look reads the configuration of a site where its file is another than before.
// One that is wrong leaves the one before in use.
func (f *folders) look(name string, folder fs.FileInfo, before *seen) *seen {
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
	r := &Record{Name: name, Place: Place{Folder: name, Database: f.database(name)}}
	if before != nil {
		r.id = before.record.id
	} else {
		f.made++
		r.id = strconv.Itoa(f.made)
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

func (f *folders) database(name string) string { return filepath.Join(f.Site(name), "site.db") }

// readConfig reads a site's configuration; a missing file is an empty one. The
// error is that of site.ParseConfig.
func (f *folders) readConfig(name string) (*site.Config, error) {
	text, err := os.ReadFile(f.Config(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("site %s: %w", name, err)
	}
	c, err := ParseConfig(text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", f.Config(name), err)
	}
	return c, nil
}

// Enter implements Registry.
func (f *folders) Enter(_ context.Context, r *Record) error {
	folder, err := os.Stat(f.Site(r.Name))
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.seen[r.Name]; s == nil || s.record.id != r.id || !os.SameFile(folder, s.folder) {
		return missing(r.Name)
	}
	return nil
}

// Left implements Registry.
func (f *folders) Left(context.Context, *Record) {}

// Ping implements Registry.
func (f *folders) Ping(context.Context) error {
	_, err := os.Stat(f.Sites())
	return err
}

// Create implements Registry.
func (f *folders) Create(_ context.Context, name string) error {
	if err := site.CheckName(name); err != nil {
		return err
	}
	if err := f.Make(); err != nil {
		return err
	}
	err := os.Mkdir(f.Site(name), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return taken(name)
	}
	if err != nil {
		return fmt.Errorf("make site %s: %w", name, err)
	}
	return os.MkdirAll(f.SitePlugins(name), 0o700)
}

// Configure implements Registry.
func (f *folders) Configure(ctx context.Context, name string, change func(*site.Config) (*site.Config, error)) (*site.Config, error) {
	if !f.exists(name) {
		return nil, missing(name)
	}
	unlock, err := lockFile(ctx, filepath.Join(f.Site(name), ".site_config.lock"))
	if err != nil {
		return nil, fmt.Errorf("configure site %s: %w", name, err)
	}
	defer unlock()
	c, err := f.readConfig(name)
	if c == nil {
		return nil, err
	}
	if c, err = change(c); err != nil {
		return nil, err
	}
	return c, writeConfig(f.Site(name), c)
}

// lockStale is how old a lock is that somebody has left behind.
const lockStale = 10 * time.Second

// lockFile waits until no other process holds the lock, which is a file.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { _ = os.Remove(name) }, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(name)
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// writeConfig replaces the configuration in a folder. Who reads it meanwhile sees
// the old one or the new one, never half of it.
func writeConfig(dir string, c *site.Config) error {
	if err := checkConfig(c); err != nil {
		return err
	}
	text, err := c.MarshalIndent()
	if err != nil {
		return err
	}
	return replaceFile(dir, configFile, text)
}

// replaceFile writes a file of which nobody ever sees a part.
func replaceFile(dir, name string, text []byte) error {
	tmp, err := os.CreateTemp(dir, "."+strings.TrimPrefix(name, ".")+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
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
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (f *folders) exists(name string) bool {
	if site.CheckName(name) != nil {
		return false
	}
	info, err := os.Stat(f.Site(name))
	return err == nil && info.IsDir()
}

// Drop implements Registry: the folder moves out of the way. A server that runs
// on it closes the site within a second; until then it goes on using the files it
// has open.
func (f *folders) Drop(_ context.Context, name string) (Kept, error) {
	if !f.exists(name) {
		return Kept{}, missing(name)
	}
	dir := filepath.Join(f.Data, "dropped")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Kept{}, err
	}
	to := filepath.Join(dir, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", name, n))
	}
	return Kept{Folder: to}, os.Rename(f.Site(name), to)
}

// dropped reports whether there is a folder of a site that was dropped here.
func (f *folders) dropped(name string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(f.Data, "dropped"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), name)
		_, err := strconv.Atoi(strings.TrimPrefix(rest, "."))
		return ok && (rest == "" || rest[0] == '.' && err == nil)
	}), nil
}

// Undrop implements Registry. It leaves to a person which of the folders is the
// site: their names do not say it for certain.
func (f *folders) Undrop(_ context.Context, name string) error {
	return fmt.Errorf("move its folder back from %s to %s", filepath.Join(f.Data, "dropped"), f.Site(name))
}

// Erase implements Registry.
func (f *folders) Erase(ctx context.Context, name string) (int, error) {
	// The folder is moved away first, so that no server opens the site again
	// between its database and its folder being deleted.
	moved, err := f.Drop(ctx, name)
	if err != nil {
		return 0, err
	}
	// Servers let go of it before it is deleted. One that has not noticed would go
	// on with what is deleted, and take a new site of this name for this one: a
	// file system gives the number of a deleted folder to the next.
	if err := settle(ctx); err != nil {
		return 0, errors.Join(err, os.Rename(moved.Folder, f.Site(name)))
	}
	return 0, os.RemoveAll(moved.Folder)
}

// ClaimMaintenance implements Registry: a file says when it was done.
func (f *folders) ClaimMaintenance(_ context.Context, r *Record) (bool, error) {
	file := filepath.Join(f.Site(r.Name), ".tended")
	if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) < maintainEvery {
		return false, nil
	}
	return true, os.WriteFile(file, nil, 0o600)
}

// Close implements Registry.
func (f *folders) Close() error { return nil }
