package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"armature/core/metrics"
	"armature/core/ratelimit"
	"armature/core/sites"
	"armature/core/store"
)

// guestsTimeout is how long guests that run when everything else has ended may
// go on before the process ends around them.
const guestsTimeout = 3 * time.Second

// platform is the sites of a process and the plugins that serve them.
type platform struct {
	set    *sites.Set
	guests *guests
	counts *ratelimit.Counters
	log    *slog.Logger

	backups bool // are made by schedule

	stop context.CancelFunc
	work sync.WaitGroup // goroutines that end with stop
}

// openPlatform makes the platform without sites.
func (a *app) openPlatform(ctx context.Context, log *slog.Logger, o guestOptions) (*platform, error) {
	if err := a.layout().Make(); err != nil {
		return nil, err
	}
	guests, err := openGuests(ctx, a.layout(), o, log)
	if err != nil {
		return nil, err
	}
	p := &platform{guests: guests, log: log, stop: func() {}}
	if p.counts, err = ratelimit.NewCounters(ratelimit.Options{Redis: a.redis, Logger: log}); err != nil {
		p.closeGuests()
		return nil, err
	}
	c := sites.Config{Plugins: guests, Counters: p.counts, Logger: log, SlowStatement: o.slow, Idle: o.idle}
	if o.bench != nil {
		c.Clock = o.bench.Now
	}
	if p.backups = o.backups != nil; p.backups {
		c.Backups = *o.backups
		c.Backups.Meter = metrics.NewBackups(guests.metrics.Registry)
	}
	if o.conns > 0 {
		c.Store.Budget = store.NewBudget(o.conns)
	}
	if guests.set, err = a.newSet(c); err != nil {
		p.closeGuests()
		return nil, errors.Join(err, p.counts.Close())
	}
	p.set = guests.set
	return p, nil
}

// start loads what is installed and keeps everything up to date until close.
func (p *platform) start(ctx context.Context) error {
	if err := p.guests.start(ctx); err != nil {
		return err
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.work.Go(func() { p.guests.run(ctx) })
	if p.guests.bench != nil {
		return nil // nobody else knows of its sites
	}
	p.work.Go(func() { p.set.Poll(ctx) })
	if !p.guests.observer {
		p.work.Go(func() { p.set.Tend(ctx) })
	}
	if p.backups {
		p.work.Go(func() { p.set.KeepBackups(ctx) })
	}
	return nil
}

// ready reports whether the platform can serve.
func (p *platform) ready(ctx context.Context) error { return p.set.Ready(ctx) }

// closeTimeout is how long closing may take before the process ends around
// what goes on: a request that nothing could end holds its site.
const closeTimeout = 5 * time.Second

// close ends everything; in time, or not quite.
func (p *platform) close() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.closeInOrder()
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
		p.log.Error("closing takes too long; the process ends around what still runs")
	}
}

// closeInOrder ends everything, in the opposite order: what polls, the sites
// with their plugins, and what the plugins ran on.
func (p *platform) closeInOrder() {
	p.stop()
	p.work.Wait()
	p.set.CloseAll()
	p.closeGuests()
	if err := p.counts.Close(); err != nil {
		p.log.Error("let go of Redis", "error", err)
	}
}

func (p *platform) closeGuests() {
	ctx, cancel := context.WithTimeout(context.Background(), guestsTimeout)
	defer cancel()
	if err := p.guests.close(ctx); err != nil {
		p.log.Error("end the plugins", "error", err)
	}
}
