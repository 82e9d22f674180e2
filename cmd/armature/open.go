package main

import (
	"context"
	"fmt"
	"os"

	"armature/core/host"
	"armature/core/site"
)

// newSet makes the set of sites in the data folder, with the folders and the
// master key if they are missing. What c leaves out of where things are and who
// is told a password is filled in.
func (a *app) newSet(c host.Config) (*host.Set, error) {
	c.Layout = a.layout()
	if err := c.Layout.Make(); err != nil {
		return nil, err
	}
	var err error
	if c.Master, err = a.master(); err != nil {
		return nil, err
	}
	c.Database, c.Version = a.database, version
	c.Password, c.Announce = os.Getenv("ARMATURE_ADMIN_PASSWORD"), a.announce
	return host.NewSet(c), nil
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
func (a *app) announce(site, user, password string) {
	fmt.Fprintf(a.stderr, "\n  New site %s. Password of %s: %s\n  It is shown once; change it with: armature user password %s\n\n",
		site, user, password, user)
}

// withTenant opens the site that is meant, beside a server that may be running
// on the same data, and closes it again. The default site is made if it is
// missing.
func (a *app) withTenant(ctx context.Context, fn func(*host.Tenant) error) error {
	set, err := a.newSet(host.Config{})
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

func (a *app) openTenant(ctx context.Context, set *host.Set) (*host.Tenant, error) {
	if a.site == site.Default && !a.layout().Exists(a.site) {
		return set.Create(ctx, a.site)
	}
	return set.Open(ctx, a.site)
}
