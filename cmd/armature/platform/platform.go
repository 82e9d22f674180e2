// Package platform is the sites of a process together with the plugins that serve
// them, opened and closed in order.
package platform

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"armature/cmd/armature/installation"
	"armature/core/account"
	"armature/core/jobs/pump"
	"armature/core/live"
	"armature/core/metrics"
	"armature/core/ratelimit"
	"armature/core/sites"
	"armature/core/sites/archive"
	"armature/core/store"
	"armature/core/tenant"
)

// guestsTimeout is how long guests that run when everything else has ended may
// go on before the process ends around them.
const guestsTimeout = 3 * time.Second

// Platform is the sites of a process and the plugins that serve them.
type Platform struct {
	Set    *sites.Set
	Guests *Guests
	counts *ratelimit.Counters
	Log    *slog.Logger

	jobs    *pump.Pump
	live    *live.Process
	bell    *store.Bell
	account *account.Account  // nil: nobody keeps one
	backups *archive.Schedule // by which archives are made; nil: none are

	replicas *store.Replicas // nil: there are none

	stop context.CancelFunc
	work sync.WaitGroup // goroutines that end with stop
}

// Open makes the platform without sites.
func Open(ctx context.Context, in *installation.Installation, log *slog.Logger, o Options) (*Platform, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if err := in.Layout().Make(); err != nil {
		return nil, err
	}
	guests, err := openGuests(ctx, in.Layout(), o, log)
	if err != nil {
		return nil, err
	}
	guests.Metrics.Build(in.Version)
	p := &Platform{account: o.Account, Guests: guests, Log: log, stop: func() {}}
	if p.counts, err = ratelimit.NewCounters(ratelimit.Options{Redis: in.Redis, Logger: log}); err != nil {
		p.closeGuests()
		return nil, err
	}
	c := sites.Config{
		Config: tenant.Config{Plugins: guests, Counters: p.counts, Logger: log, SlowStatement: o.Slow, Live: o.Live}, Idle: o.Idle,
	}
	c.Quotas = metrics.NewQuotas(guests.Metrics.Registry)
	if o.Test != nil {
		c.Clock = o.Test.Now
	}
	if p.backups = o.Backups; p.backups != nil {
		p.backups.Meter = metrics.NewBackups(guests.Metrics.Registry)
	}
	if o.Test == nil {
		p.jobs = newPump(in, p, log)
		c.Jobs = p.jobs
		c.Delivered = metrics.CountDeliveries(guests.Metrics.Registry)
		metrics.ShowJobs(guests.Metrics.Registry, p.jobs.Counts)
	}
	p.live = live.NewProcess(live.ProcessConfig{Most: o.Streams})
	c.Streams = p.live
	metrics.ShowLive(guests.Metrics.Registry, func() metrics.LiveCounts { return metrics.LiveCounts(p.live.Counts()) })
	p.bell = store.NewBell(log)
	c.Store.Bell = p.bell
	if o.Conns > 0 {
		c.Store.Budget = store.NewBudget(o.Conns)
	}
	if err := p.follow(ctx, in.Database, o); err != nil {
		p.closeGuests()
		return nil, errors.Join(err, p.counts.Close())
	}
	c.Store.Replicas = p.replicas
	if p.Set, err = in.NewSet(c); err != nil {
		p.closeGuests()
		return nil, errors.Join(err, p.unfollow(), p.counts.Close())
	}
	return p, nil
}

// Start loads what is installed and keeps everything up to date until close.
func (p *Platform) Start(ctx context.Context) error {
	if err := p.Guests.start(ctx, p.Set.Look); err != nil {
		return err
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.work.Go(func() { p.Guests.Run(ctx) })
	if p.Guests.test != nil {
		return nil // nobody else knows of its sites
	}
	// First what can fail: that a database is away is said once, and not by what polls too.
	if !p.Guests.observer {
		if err := p.jobs.Start(ctx); err != nil {
			return err
		}
		p.work.Go(func() { p.Set.Maintain(ctx) })
	}
	p.work.Go(func() { p.Set.Poll(ctx) })
	if p.backups != nil {
		charged := account.With(ctx, p.account.Work())
		p.work.Go(func() { archive.NewScheduler(p.Set, *p.backups).Run(charged) })
	}
	return nil
}

// Drain ends the streams of live changes, whose clients come again elsewhere: they are
// not waited for as requests are.
func (p *Platform) Drain() { p.live.Drain() }

// Ready reports whether the platform can serve.
func (p *Platform) Ready(ctx context.Context) error { return p.Set.Ready(ctx) }

// closeTimeout is how long closing may take before the process ends around
// what goes on: a request that nothing could end holds its site.
const closeTimeout = 5 * time.Second

// Close ends everything; in time, or not quite.
func (p *Platform) Close() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.closeInOrder()
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
		p.Log.Error("closing takes too long; the process ends around what still runs")
	}
}

// closeInOrder ends everything, in the opposite order: what polls, the sites
// with their plugins, and what the plugins ran on.
func (p *Platform) closeInOrder() {
	p.stop()
	if p.jobs != nil {
		if err := p.jobs.Close(); err != nil {
			p.Log.Error("end the jobs", "error", err)
		}
	}
	p.work.Wait()
	p.Set.CloseAll()
	p.bell.Close()
	if err := p.unfollow(); err != nil {
		p.Log.Error("let go of the replicas", "error", err)
	}
	p.closeGuests()
	if err := p.counts.Close(); err != nil {
		p.Log.Error("let go of Redis", "error", err)
	}
}

func (p *Platform) closeGuests() {
	ctx, cancel := context.WithTimeout(context.Background(), guestsTimeout)
	defer cancel()
	if err := p.Guests.close(ctx); err != nil {
		p.Log.Error("end the plugins", "error", err)
	}
}
