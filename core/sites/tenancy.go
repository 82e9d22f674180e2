package sites

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"armature/core/pin"
	"armature/core/tenant"
)

// tenancy is one opening of a site, from there to its closing. Requests hold it,
// and whoever lets go of it last after it was retired closes it.
type tenancy struct {
	*tenant.Tenant
	set      *Set
	entry    *entry
	pins     pin.Count
	releaser func() // release, bound once
	used     usage
	ended    chan struct{} // closed when it is closed

	checked  atomic.Int64 // the tick at which changes of others were taken over
	checking *semaphore.Weighted
}

// newTenancy opens a site as a record has it. The tenancy is held.
func (s *Set) newTenancy(ctx context.Context, e *entry, r *Record) (_ *tenancy, err error) {
	t := &tenancy{set: s, entry: e, ended: make(chan struct{}), checking: semaphore.NewWeighted(1)}
	t.releaser, t.used.last = t.release, time.Now()
	t.pins.Take()
	t.checked.Store(s.tick.Load())
	home, err := s.home(r)
	if err != nil {
		return nil, err
	}
	home.Active = t.active
	if t.Tenant, err = tenant.Open(ctx, &s.c.Config, home); err != nil {
		return nil, err
	}
	s.noteDatabase(t)
	return t, nil
}

// noteDatabase notes in the folder of a site which database it has. On PostgreSQL a
// machine may have no folder.
func (s *Set) noteDatabase(t *tenancy) {
	dir := t.Home().Dir
	if _, err := os.Stat(dir); err != nil {
		return
	}
	if err := (marker{Identity: t.Identity()}).note(dir); err != nil {
		t.Log().Error("note that the site has a database", "error", err)
	}
}

// home is where a site keeps what it has, if it may be opened.
func (s *Set) home(r *Record) (tenant.Home, error) {
	if r.Broken != nil {
		return tenant.Home{}, fmt.Errorf("open site %s: %w", r.Name, r.Broken)
	}
	lost := s.lost(r)
	if lost != nil && databaseGone(r.Place) {
		return tenant.Home{}, fmt.Errorf("open site %s: %w", r.Name, lost)
	}
	return tenant.Home{
		Name: r.Name, Config: r.Config, Folder: r.Folder, Dir: s.c.Layout.Site(r.Folder),
		Files: s.c.Layout.Files(r.Folder), Plugins: s.c.Layout.SitePlugins(r.Folder), Public: s.c.Layout.Public(r.Folder),
		Database: r.Database, Schema: r.Schema, Lost: lost,
	}, nil
}

// active reports whether changes of others were taken over lately, as they are
// while requests come.
func (t *tenancy) active() bool { return t.checked.Load() >= t.set.tick.Load() }

// release gives the site back after a request.
func (t *tenancy) release() {
	if t.pins.Drop() {
		t.end()
	}
}

// end closes a tenancy that is retired and that nobody holds any more.
func (t *tenancy) end() {
	t.Close()
	if plugins := t.set.c.Plugins; plugins != nil && t.set.table.Load().byName[t.entry.name] != t.entry {
		// Dropped while requests ran, which may have kept something since. A site of
		// the same name opens after this.
		plugins.Forget(t.entry.name)
	}
	t.entry.tenancy.CompareAndSwap(t, nil)
	t.set.notLatest(t)
	close(t.ended)
	t.set.open.Done()
}

// letSleep releases a tenancy that no request has held, and ends it where the site
// slept before and nobody has come meanwhile.
func (t *tenancy) letSleep(slept bool) {
	t.release()
	if slept && !t.used.recent() && t.sleep() {
		t.end()
	}
}

// sleep retires a tenancy that nobody holds, and reports whether it did: then it is
// to be ended.
func (t *tenancy) sleep() bool {
	if !t.pins.RetireUnused() {
		return false
	}
	t.entry.serving.CompareAndSwap(t, nil)
	return true
}

// refresh takes over what other processes have changed, on behalf of everybody
// until after the tick. A site that this binary may not use any more is closed:
// the next request is told why.
func (t *tenancy) refresh(ctx context.Context, tick int64) {
	if !t.Refresh(ctx) {
		t.entry.close()
	}
	t.checked.Store(tick)
}

// catchUp takes over what other processes have changed since the last request on
// a site that has had none for a while: nobody looks at such a site. Where that
// takes too long the request goes on with what is known.
func (t *tenancy) catchUp(ctx context.Context) {
	if t.checking.Acquire(ctx, 1) != nil {
		return // the client has left
	}
	defer t.checking.Release(1)
	tick := t.set.tick.Load()
	if t.checked.Load() >= tick {
		return // somebody else has done it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout) // others wait for it
	defer cancel()
	t.RefreshPlugins(ctx)
	t.refresh(ctx, tick)
}

// usage tells when a site was last used, at next to no cost for a request.
type usage struct {
	noted atomic.Bool
	last  time.Time // of the poller
	was   atomic.Bool
}

// note says that a request has come.
func (u *usage) note() {
	if !u.noted.Load() { // a write would take the line from every other processor
		u.noted.Store(true)
	}
}

// recent reports whether a request has come since the last round.
func (u *usage) recent() bool { return u.noted.Load() || u.was.Load() }

// idle reports whether none has come for d; below 0 is for ever.
func (u *usage) idle(now time.Time, d time.Duration) bool {
	u.was.Store(u.noted.Swap(false))
	if u.was.Load() {
		u.last = now
	}
	return d >= 0 && now.Sub(u.last) >= d
}
