package main

import (
	"context"
	"log/slog"
	"sync"

	"armature/core/host"
)

// platform is the sites of a process and the plugins that serve them.
type platform struct {
	set  *host.Set
	stop context.CancelFunc
	work sync.WaitGroup // goroutines that end with stop
}

// openPlatform makes the platform without sites. pluginDir holds the plugins of
// all sites; empty: the one in the data folder.
func (a *app) openPlatform(ctx context.Context, log *slog.Logger, pluginDir string) (*platform, error) {
	set, err := a.newSet(log, nil)
	if err != nil {
		return nil, err
	}
	return &platform{set: set, stop: func() {}}, nil
}

// start loads what is installed and keeps everything up to date until close.
func (p *platform) start(ctx context.Context) error {
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.work.Go(func() { p.set.Poll(ctx) })
	return nil
}

// ready reports whether the platform can serve.
func (p *platform) ready(ctx context.Context) error { return p.set.Ready(ctx) }

// close ends everything, in the opposite order: what polls, the sites with
// their plugins, and what the plugins ran on.
func (p *platform) close() {
	p.stop()
	p.work.Wait()
	p.set.CloseAll()
}
