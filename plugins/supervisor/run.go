package supervisor

import (
	"context"
	"sync"
	"time"
)

const (
	// syncEvery is how often Run looks for what other processes have written.
	syncEvery = 500 * time.Millisecond
	// countEvery is how often it writes down how often plugins were called. Who
	// kills the process loses as much.
	countEvery = 10 * time.Second
	// logsEvery is how often what plugins have logged is handed on.
	logsEvery = time.Second
	// cleanEvery is how often it looks for copies that nobody needs any more.
	cleanEvery = 24 * time.Hour
)

// Run keeps the open sites up to date until ctx ends.
func (v *Supervisor) Run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { v.keepUpToDate(ctx) })
	work.Go(func() { v.keepLogs(ctx) })
	work.Wait()
}

func (v *Supervisor) keepUpToDate(ctx context.Context) {
	tick, count, clean := time.NewTicker(syncEvery), time.NewTicker(countEvery), time.NewTicker(cleanEvery)
	defer tick.Stop()
	defer count.Stop()
	defer clean.Stop()
	v.clean()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		case <-tick.C:
		case <-clean.C:
			v.clean()
		case <-count.C:
			for _, s := range v.all() {
				s.installed.Count(ctx)
			}
		}
		for _, s := range v.all() {
			if s.active() {
				s.Refresh(ctx)
			}
		}
	}
}

func (v *Supervisor) keepLogs(ctx context.Context) {
	tick := time.NewTicker(logsEvery)
	defer tick.Stop()
	for {
		for _, s := range v.all() {
			s.writeLogs()
		}
		select {
		case <-ctx.Done():
			for _, s := range v.all() {
				s.writeLogs()
			}
			return
		case <-tick.C:
		}
	}
}

// clean removes the copies of bundles that no site's record names. What sites
// that sleep had when they were last awake counts; each is woken once a day.
func (v *Supervisor) clean() {
	if v.cfg.Observer {
		return
	}
	named := map[string]bool{}
	add := func(hashes []string) {
		for _, hash := range hashes {
			named[hash] = true
		}
	}
	for _, s := range v.all() {
		hashes, known := s.records.Hashes()
		if !known {
			return
		}
		add(hashes)
	}
	v.mu.Lock()
	for _, of := range v.remembered {
		add(of.hashes)
	}
	v.mu.Unlock()
	if err := v.bundles.Clean(named); err != nil {
		v.log.Warn("remove copies of plugins that serve no more", "error", err)
	}
}
