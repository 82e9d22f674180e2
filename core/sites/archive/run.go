package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"armature/core/backup"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// look is how often it is looked whose archive is due. Most looks are at a map.
const look = 5 * time.Second

// clearEvery is how often it is looked for what is left of broken off backups.
const clearEvery = 24 * time.Hour

// Scheduler makes archives by schedule.
type Scheduler struct {
	set      *sites.Set
	c        sites.Config // of the set
	schedule Schedule

	next    map[*registry.Record]time.Time // when to look at a site again; with another configuration it is another record
	cleared time.Time                      // when it was last looked for what is left of broken off backups
}

// NewScheduler makes what makes archives of the sites of a set.
func NewScheduler(set *sites.Set, by Schedule) *Scheduler {
	return &Scheduler{set: set, c: set.Config(), schedule: by, next: map[*registry.Record]time.Time{}}
}

// Run makes archives of every site by schedule until ctx ends, one after the other: a
// backup takes a processor, and 256 MiB for the passphrase. It is called once.
func (s *Scheduler) Run(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		s.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round makes the archives that are due now.
func (s *Scheduler) round(ctx context.Context) {
	if time.Since(s.cleared) >= clearEvery {
		s.cleared = time.Now()
		if err := datafolder.RemoveAbandoned(ctx, s.c.Layout.Data, trialPrefix, s.c.Logger); err != nil && ctx.Err() == nil {
			s.c.Logger.Error("clear away what is left of broken off backups", "error", err)
		}
	}
	seen := map[*registry.Record]bool{}
	for _, r := range s.set.Known() {
		if ctx.Err() != nil {
			return
		}
		seen[r] = true
		if !s.c.Now().Before(s.next[r]) {
			again := s.site(ctx, r) // which takes its time
			s.next[r] = s.c.Now().Add(again)
		}
	}
	maps.DeleteFunc(s.next, func(r *registry.Record, _ time.Time) bool { return !seen[r] })
}

// forLong is when a site is looked at again of which no archives are made: another
// configuration is looked at at once.
const forLong = 365 * 24 * time.Hour

// lookSoon is when it is looked again what another server makes of a site.
const lookSoon = time.Minute

// site makes the archive of a site if it is due, and tells in how long to look again.
func (s *Scheduler) site(ctx context.Context, r *registry.Record) (again time.Duration) {
	schedule, own, ok, err := s.schedule.of(r.Config)
	if err != nil || r.Broken != nil {
		s.c.Logger.Error("no backup is made of a site: its configuration cannot be used", "site", r.Name, "error", errors.Join(err, r.Broken))
		return forLong
	}
	if !ok {
		if m := s.schedule.Meter; m != nil {
			m.Forget(r.Name)
		}
		return forLong
	}
	t, release, err := s.set.Borrow(ctx, r.Name)
	if err != nil {
		s.failed(ctx, r.Name, time.Time{}, fmt.Errorf("open the site: %w", err))
		return s.afterFailure(schedule)
	}
	defer release()
	if own && t.Outgoing() != nil {
		return lookSoon
	}
	return s.due(ctx, t, schedule)
}

// due does so with the lease of the site.
func (s *Scheduler) due(ctx context.Context, t *tenant.Tenant, schedule backup.Schedule) (again time.Duration) {
	runs := backup.Runs{Store: t.Store, Now: s.c.Now}
	lease, last, err := runs.Take(ctx, schedule.Every)
	if err != nil {
		s.failed(ctx, t.Site.Name, last.Done, fmt.Errorf("find out when the last backup was made: %w", err))
		return lookSoon
	}
	if lease == nil {
		if m := s.schedule.Meter; m != nil {
			m.Known(t.Site.Name, last.Done, last.Problem != "")
		}
		if wait := last.Due(schedule.Every).Sub(s.c.Now()); wait > 0 {
			return wait
		}
		return lookSoon // somebody else is making it
	}
	began := time.Now()
	run, err := s.run(ctx, t, lease, schedule.Keep)
	if err != nil {
		run = backup.Run{Problem: err.Error()}
	}
	if ctx.Err() != nil {
		run.Problem = "the server was stopped"
	}
	// A server that is being stopped lets the next one begin all the same.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLease)
	defer cancel()
	if failed := lease.End(end, run); failed != nil {
		err = errors.Join(err, fmt.Errorf("note the backup: %w", failed))
	}
	if ctx.Err() != nil {
		return lookSoon
	}
	if err != nil {
		s.failed(ctx, t.Site.Name, last.Done, err)
		return s.afterFailure(schedule)
	}
	took := time.Since(began)
	t.Log().Info("backup made", "file", run.File, "bytes", run.Size, "records", run.Records, "seconds", took.Seconds())
	if m := s.schedule.Meter; m != nil {
		m.Ended(t.Site.Name, run.Done, took, run.Size, nil)
	}
	return max(shortestWait, schedule.Every-took)
}

// afterFailure is in how long a site is looked at again whose backup has just failed.
func (s *Scheduler) afterFailure(schedule backup.Schedule) time.Duration {
	now := s.c.Now()
	return max(lookSoon, backup.Run{Tried: now, Problem: "failed"}.Due(schedule.Every).Sub(now))
}

const (
	leaveLease   = 2 * time.Second
	shortestWait = time.Second
)

func (s *Scheduler) failed(ctx context.Context, site string, done time.Time, err error) {
	if ctx.Err() != nil {
		return
	}
	s.c.Logger.Error("a backup failed", "site", site, "error", err)
	if m := s.schedule.Meter; m != nil {
		m.Ended(site, done, 0, 0, err)
	}
}

// run makes an archive while the lease holds, tries it, keeps it, and only then
// deletes what is not to be kept any more.
func (s *Scheduler) run(ctx context.Context, t *tenant.Tenant, lease *backup.Lease, keep backup.Policy) (_ backup.Run, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		renew(ctx, lease, stop)
	}()
	defer func() { stop(nil); <-renewed }()

	passphrase, err := s.schedule.passphrase()
	if err != nil {
		return backup.Run{}, err
	}
	place, spool, closePlace, err := s.schedule.openPlace(t, s.c.Layout.Data)
	if err != nil {
		return backup.Run{}, err
	}
	defer func() { err = errors.Join(err, closePlace()) }()
	dir, err := os.MkdirTemp(spool, trialPrefix+"*")
	if err != nil {
		return backup.Run{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "site"+backup.Suffix)
	archive, err := s.archive(ctx, t, path, passphrase)
	if err != nil {
		return backup.Run{}, err
	}
	kept, err := place.Keep(ctx, path, archive.Header.Made)
	if err != nil {
		return backup.Run{}, err
	}
	gone, err := place.Prune(ctx, keep)
	for _, k := range gone {
		t.Log().Info("a backup is not kept any longer", "file", k.Key)
	}
	if err != nil {
		return backup.Run{}, fmt.Errorf("delete what is not to be kept: %w", err)
	}
	return backup.Run{Done: archive.Header.Made, File: kept.Key, Size: kept.Size, Records: archive.Manifest.Records()}, nil
}

// renew holds the lease until ctx ends, and ends it where the lease is lost.
func renew(ctx context.Context, lease *backup.Lease, stop context.CancelCauseFunc) {
	tick := time.NewTicker(backup.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := lease.Renew(ctx); err != nil && ctx.Err() == nil {
			stop(err)
			return
		}
	}
}

// archive makes an archive in a new file and tries it.
func (s *Scheduler) archive(ctx context.Context, t *tenant.Tenant, path, passphrase string) (*backup.Archive, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = t.Backup(ctx, passphrase, f, nil)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return Verify(ctx, s.set, path, passphrase, nil)
}
