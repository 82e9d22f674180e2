package sites

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"armature/core/backup"
	"armature/core/tenant"
)

// backupLook is how often it is looked whose archive is due. Most looks are at a map.
const backupLook = 5 * time.Second

// KeepBackups makes archives of every site by schedule until ctx ends, one after the
// other: a backup takes a processor, and 256 MiB for the passphrase.
func (s *Set) KeepBackups(ctx context.Context) {
	b := newBackups(s)
	tick := time.NewTicker(backupLook)
	defer tick.Stop()
	for {
		b.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// backups is what this process knows of when archives are due.
type backups struct {
	set     *Set
	next    map[*Record]time.Time // when to look at a site again; with another configuration it is another record
	cleared time.Time
}

func newBackups(s *Set) *backups { return &backups{set: s, next: map[*Record]time.Time{}} }

// round makes the archives that are due now.
func (b *backups) round(ctx context.Context) {
	s, seen := b.set, map[*Record]bool{}
	if time.Since(b.cleared) >= tendEvery {
		b.cleared = time.Now()
		if err := clearTrials(s.c.Layout.Data); err != nil {
			s.c.Logger.Error("clear away what is left of broken off backups", "error", err)
		}
	}
	for _, e := range s.table.Load().entries {
		if ctx.Err() != nil {
			return
		}
		r := e.record.Load()
		seen[r] = true
		if !s.c.Now().Before(b.next[r]) {
			again := b.site(ctx, e, r) // which takes its time
			b.next[r] = s.c.Now().Add(again)
		}
	}
	maps.DeleteFunc(b.next, func(r *Record, _ time.Time) bool { return !seen[r] })
}

// forLong is when a site is looked at again of which no archives are made: another
// configuration is looked at at once.
const forLong = 365 * 24 * time.Hour

// lookSoon is when it is looked again what another server makes of a site.
const lookSoon = time.Minute

// site makes the archive of a site if it is due, and tells in how long to look again.
func (b *backups) site(ctx context.Context, e *entry, r *Record) (again time.Duration) {
	s := b.set
	schedule, own, ok, err := s.schedule(r.Config)
	if err != nil || r.Broken != nil {
		s.c.Logger.Error("no backup is made of a site: its configuration cannot be used", "site", e.name, "error", errors.Join(err, r.Broken))
		return forLong
	}
	if !ok {
		if m := s.c.Backups.Meter; m != nil {
			m.Forget(e.name)
		}
		return forLong
	}
	slept := e.serving.Load() == nil
	t, err := s.wake(ctx, e)
	if err != nil {
		b.failed(ctx, e.name, time.Time{}, fmt.Errorf("open the site: %w", err))
		return b.afterFailure(schedule)
	}
	defer t.letSleep(slept)
	if own && t.Outgoing() != nil {
		return lookSoon
	}
	return b.due(ctx, t.Tenant, schedule)
}

// due does so with the lease of the site.
func (b *backups) due(ctx context.Context, t *tenant.Tenant, schedule backup.Schedule) (again time.Duration) {
	s := b.set
	runs := backup.Runs{Store: t.Store, Now: s.c.Now}
	lease, last, err := runs.Take(ctx, schedule.Every)
	if err != nil {
		b.failed(ctx, t.Site.Name, last.Done, fmt.Errorf("find out when the last backup was made: %w", err))
		return lookSoon
	}
	if lease == nil {
		if m := s.c.Backups.Meter; m != nil {
			m.Known(t.Site.Name, last.Done, last.Problem != "")
		}
		if wait := last.Due(schedule.Every).Sub(s.c.Now()); wait > 0 {
			return wait
		}
		return lookSoon // somebody else is making it
	}
	began := time.Now()
	run, err := b.run(ctx, t, lease, schedule.Keep)
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
		b.failed(ctx, t.Site.Name, last.Done, err)
		return b.afterFailure(schedule)
	}
	took := time.Since(began)
	t.Log().Info("backup made", "file", run.File, "bytes", run.Size, "records", run.Records, "seconds", took.Seconds())
	if m := s.c.Backups.Meter; m != nil {
		m.Ended(t.Site.Name, run.Done, took, run.Size, nil)
	}
	return max(shortestWait, schedule.Every-took)
}

// afterFailure is in how long a site is looked at again whose backup has just failed.
func (b *backups) afterFailure(schedule backup.Schedule) time.Duration {
	now := b.set.c.Now()
	return max(lookSoon, backup.Run{Tried: now, Problem: "failed"}.Due(schedule.Every).Sub(now))
}

const (
	leaveLease   = 2 * time.Second
	shortestWait = time.Second
)

func (b *backups) failed(ctx context.Context, site string, done time.Time, err error) {
	if ctx.Err() != nil {
		return
	}
	b.set.c.Logger.Error("a backup failed", "site", site, "error", err)
	if m := b.set.c.Backups.Meter; m != nil {
		m.Ended(site, done, 0, 0, err)
	}
}

// run makes an archive while the lease holds, tries it, keeps it, and only then
// deletes what is not to be kept any more.
func (b *backups) run(ctx context.Context, t *tenant.Tenant, lease *backup.Lease, keep backup.Policy) (_ backup.Run, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		renew(ctx, lease, stop)
	}()
	defer func() { stop(nil); <-renewed }()

	passphrase, err := b.set.c.Backups.passphrase()
	if err != nil {
		return backup.Run{}, err
	}
	place, spool, closePlace, err := b.set.openPlace(t)
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
	archive, err := b.archive(ctx, t, path, passphrase)
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
func (b *backups) archive(ctx context.Context, t *tenant.Tenant, path, passphrase string) (*backup.Archive, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = t.Backup(ctx, passphrase, f, nil)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return b.set.Verify(ctx, path, passphrase, nil)
}

var errNoPassphrase = errors.New("there is no passphrase to seal backups under: set ARMATURE_BACKUP_PASSPHRASE, or --backup-passphrase-file")

func (b Backups) passphrase() (string, error) {
	if b.Passphrase == nil {
		return "", errNoPassphrase
	}
	text, err := b.Passphrase()
	if err == nil && text == "" {
		err = errNoPassphrase
	}
	return text, err
}
