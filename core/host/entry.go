package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/fault"
	"armature/core/site"
)

// How long an opening may take, and how long its failure is the answer before
// it is tried again: a site that cannot be opened must not keep the server busy
// with trying.
const (
	openTimeout = time.Minute
	failedFor   = time.Second
)

// entry is a site there is. Asleep it is this and nothing more: no database, no
// goroutine, no file.
type entry struct {
	name   string
	folder fs.FileInfo // tells it from a site of the same name that was made later

	config *site.Config // as last read; of the poller, under Set.mu
	file   fs.FileInfo  // the configuration it was read from; nil: there was none
	broken bool         // the file cannot be used

	tenant  atomic.Pointer[Tenant] // open, or on its way to be opened or closed
	serving atomic.Pointer[Tenant] // takes requests

	mu      sync.Mutex
	opening *opening // the latest
}

// opening is one attempt to open a site, which everybody waits for who needs it.
type opening struct {
	done  chan struct{} // closed when it has ended
	err   error
	ended time.Time
}

// wake returns the open tenant of a site and holds it: who gets it has to
// release it. A sleeping site is opened; many who come at once wait for one
// opening.
func (s *Set) wake(ctx context.Context, e *entry) (*Tenant, error) {
	for {
		if t := e.serving.Load(); t != nil && t.pins.take() {
			return t, nil
		}
		o := s.attempt(e)
		select {
		case <-o.done:
			if o.err != nil {
				return nil, o.err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// attempt returns the opening that is running, or has just failed, or a new one.
func (s *Set) attempt(e *entry) *opening {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.opening; o != nil {
		select {
		case <-o.done:
			if o.err != nil && time.Since(o.ended) < failedFor {
				return o
			}
			if t := e.serving.Load(); t != nil && !t.pins.retired() {
				return o // somebody was faster
			}
		default:
			return o
		}
	}
	o := &opening{done: make(chan struct{})}
	if err := s.begin(); err != nil {
		o.err = err
		close(o.done)
		return o
	}
	e.opening = o
	go s.runOpening(e, o)
	return o
}

// begin counts a tenant that CloseAll has to wait for.
func (s *Set) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.open.Add(1)
	return nil
}

var errClosed = fault.New(fault.Unavailable, "", "The server is shutting down")

// runOpening opens a site on behalf of everybody who waits: whoever asked first
// may leave before it is done.
func (s *Set) runOpening(e *entry, o *opening) {
	err := s.openEntry(e)
	if err != nil {
		s.open.Done()
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errClosed) {
			s.c.Logger.Error("a site cannot be opened", "site", e.name, "error", err)
		}
	}
	o.err, o.ended = err, time.Now()
	close(o.done)
}

func (s *Set) openEntry(e *entry) error {
	ctx, cancel := context.WithTimeout(s.ctx, openTimeout)
	defer cancel()
	// Two tenants of one site at a time would get in each other's way: the one
	// before ends first, even where it belonged to a site that was dropped.
	if before := s.latest(e.name, nil); before != nil {
		select {
		case <-before.ended:
		case <-ctx.Done():
			return fault.Wrap(fault.Unavailable, "", ctx.Err(), "Requests to what was this site before have not ended")
		}
	}
	folder, err := os.Stat(s.c.Layout.Site(e.name))
	if err != nil {
		return err
	}
	if !os.SameFile(folder, e.folder) {
		return fs.ErrNotExist // the next look at the folders finds the new one
	}
	configured, _ := os.Stat(s.c.Layout.Config(e.name))
	t, err := s.openTenant(ctx, e.name)
	if err != nil {
		return err
	}
	t.entry, t.used.last = e, time.Now()
	t.pins.take() // for as long as this takes
	defer t.release()
	t.checked.Store(s.tick.Load())
	s.latest(e.name, t)
	e.tenant.Store(t)
	// The poller tells the tenant of changes from here on.
	if now, _ := os.Stat(s.c.Layout.Config(e.name)); !sameFile(now, configured) {
		if config, err := s.c.Layout.ReadConfig(e.name); err == nil {
			t.configure(config)
		}
	}
	if s.c.Plugins != nil {
		s.c.Plugins.Refresh(ctx, e.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.table.Load().byName[e.name] != e {
		t.pins.retire()
		return nil // who waits asks again, and is told
	}
	e.serving.Store(t)
	return nil
}

// latest notes the tenant that was opened last under a name, or with nil returns
// the one before.
func (s *Set) latest(name string, t *Tenant) *Tenant {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	if t != nil {
		s.last[name] = t
	}
	return s.last[name]
}

// notLatest forgets a tenant that has ended.
func (s *Set) notLatest(t *Tenant) {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	if s.last[t.Site.Name] == t {
		delete(s.last, t.Site.Name)
	}
}
