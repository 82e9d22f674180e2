package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"armature/core/site"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
)

// Configure implements Registry.
func (f *Folders) Configure(ctx context.Context, name string, change func(*site.Config) (*site.Config, error)) (*site.Config, error) {
	if !f.exists(name) {
		return nil, registry.Missing(name)
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
	if err := registry.CheckConfig(c); err != nil {
		return err
	}
	text, err := c.MarshalIndent()
	if err != nil {
		return err
	}
	return datafolder.Replace(dir, datafolder.ConfigFile, text)
}

// readConfig reads a site's configuration; a missing file is an empty one. The
// error is that of site.ParseConfig.
func (f *Folders) readConfig(name string) (*site.Config, error) {
	text, err := os.ReadFile(f.Config(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("site %s: %w", name, err)
	}
	c, err := registry.ParseConfig(text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", f.Config(name), err)
	}
	return c, nil
}
