package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"armature/core/site"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
)

// Folders is the registry of one machine: a site is a folder, and exists from the
// moment its folder does; its configuration is a file in it, which people may
// edit. Commands and servers on one data folder need no protocol between them.
type Folders struct {
	datafolder.Layout
	log *slog.Logger

	mu   sync.Mutex
	made int              // numbers the sites that were seen
	seen map[string]*seen // by name
}

// seen is a site as the last look found it.
type seen struct {
	record *registry.Record
	folder fs.FileInfo
	file   fs.FileInfo // of the configuration; nil: there was none
}

// New is the registry of what lies in a data folder. It reads nothing.
func New(l datafolder.Layout, log *slog.Logger) *Folders {
	return &Folders{Layout: l, log: log, seen: map[string]*seen{}}
}

func (f *Folders) exists(name string) bool {
	if site.CheckName(name) != nil {
		return false
	}
	info, err := os.Stat(f.Site(name))
	return err == nil && info.IsDir()
}

func (f *Folders) database(name string) string { return filepath.Join(f.Site(name), "site.db") }

// Create implements Registry.
func (f *Folders) Create(_ context.Context, name string) error {
	if err := site.CheckName(name); err != nil {
		return err
	}
	if err := f.Make(); err != nil {
		return err
	}
	err := os.Mkdir(f.Site(name), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return registry.Taken(name)
	}
	if err != nil {
		return fmt.Errorf("make site %s: %w", name, err)
	}
	return os.MkdirAll(f.SitePlugins(name), 0o700)
}

// Left implements Registry.
func (f *Folders) Left(context.Context, *registry.Record) {}

// Ping implements Registry.
func (f *Folders) Ping(context.Context) error {
	_, err := os.Stat(f.Sites())
	return err
}

// ClaimMaintenance implements Registry: a file says when it was done.
func (f *Folders) ClaimMaintenance(_ context.Context, r *registry.Record) (bool, error) {
	file := filepath.Join(f.Site(r.Name), ".tended")
	if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) < registry.MaintainEvery {
		return false, nil
	}
	return true, os.WriteFile(file, nil, 0o600)
}

// Close implements Registry.
func (f *Folders) Close() error { return nil }
