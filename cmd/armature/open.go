package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"armature/core/host"
	"armature/core/ratelimit"
	"armature/core/site"
)

// newSet makes the set of sites in the data folder, with the folders and the
// master key if they are missing.
func (a *app) newSet(log *slog.Logger, plugins host.Plugins, counters *ratelimit.Counters) (*host.Set, error) {
	layout := a.layout()
	if err := layout.Make(); err != nil {
		return nil, err
	}
	master, err := a.master()
	if err != nil {
		return nil, err
	}
	return host.NewSet(host.Config{
		Layout: layout, Database: a.database, Master: master, Version: version,
		Plugins: plugins, Counters: counters, Logger: log,
		Password: os.Getenv("ARMATURE_ADMIN_PASSWORD"),
		Announce: a.announce,
	}), nil
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
	set, err := a.newSet(slog.New(slog.DiscardHandler), nil, nil)
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
