package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"armature/core/site"
	"armature/core/sites"
)

// newSet makes the set of sites in the data folder, with the folders and the
// master key if they are missing. What c leaves out of where things are and who
// is told a password is filled in.
func (a *app) newSet(c sites.Config) (*sites.Set, error) {
	c.Layout = a.layout()
	if err := c.Layout.Make(); err != nil {
		return nil, err
	}
	var err error
	if c.Master, err = a.master(); err != nil {
		return nil, err
	}
	c.Database, c.Version, c.Recreate = a.database, version, a.recreate
	c.Password, c.Announce = os.Getenv("ARMATURE_ADMIN_PASSWORD"), a.announce
	return sites.NewSet(c), nil
}

func (a *app) master() (*site.Master, error) {
	if text := os.Getenv("ARMATURE_SECRET_KEY"); text != "" {
		m, err := site.ParseMaster(text)
		if err != nil {
			return nil, fmt.Errorf("ARMATURE_SECRET_KEY: %w", err)
		}
		return m, nil
	}
	return site.LoadMaster(a.layout().MasterKey())
}

// announce prints a password that exists nowhere else, once, where no log
// collector reads it as an event of its own and no pipe mistakes it for a
// result.
func (a *app) announce(name, user, password string) {
	change := "armature user password " + user
	if name != site.Default {
		change += " --site " + name
	}
	fmt.Fprintf(a.stderr, "\n  New site %s. Password of %s: %s\n  It is shown once; change it with: %s\n\n", name, user, password, change)
}

// withTenant opens the site that is meant, beside a server that may be running
// on the same data, and closes it again. The default site is made if it is
// missing.
func (a *app) withTenant(ctx context.Context, fn func(*sites.Tenant) error) error {
	set, err := a.newSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	t, err := a.openTenant(ctx, set)
	if err != nil {
		return err
	}
	return fn(t)
}

func (a *app) openTenant(ctx context.Context, set *sites.Set) (*sites.Tenant, error) {
	t, err := set.Open(ctx, a.site)
	if a.site == site.Default && errors.Is(err, fs.ErrNotExist) {
		return openDefault(ctx, set)
	}
	return t, err
}

// openDefault makes the default site, unless somebody else has just done it.
func openDefault(ctx context.Context, set *sites.Set) (*sites.Tenant, error) {
	t, err := set.Create(ctx, site.Default)
	if errors.Is(err, fs.ErrExist) {
		return set.Open(ctx, site.Default)
	}
	return t, err
}

// withRegistry gives fn the list of sites, for commands that open none of them.
func (a *app) withRegistry(fn func(sites.Registry) error) error {
	c := sites.RegistryConfig{Layout: a.layout(), Database: a.database, Logger: a.notices()}
	if a.database != "" {
		if err := c.Layout.Make(); err != nil {
			return err
		}
		var err error
		if c.Master, err = a.master(); err != nil {
			return err
		}
	}
	registry := sites.NewRegistry(c)
	return errors.Join(fn(registry), registry.Close())
}

// notices tells a person who runs a command what it does beside.
func (a *app) notices() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}}))
}

// siteFolder is the folder of a site on this machine.
func (a *app) siteFolder(ctx context.Context, name string) (string, error) {
	r, err := a.record(ctx, name)
	if err != nil {
		return "", err
	}
	return a.layout().Site(r.Folder), nil
}
