package sites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/fault"
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
	record atomic.Pointer[Record] // as last looked at; of one site

	tenancy atomic.Pointer[tenancy] // open, or on its way to be opened or closed
	serving atomic.Pointer[tenancy] // takes requests

	mu      sync.Mutex // of opening, and of record and tenancy together
	opening *opening   // the latest
}

// update takes over what a look has found. Looks come one after the other, so
// that what was read earlier never takes the place of what was read later.
func (e *entry) update(r *Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record.Store(r)
	if t := e.tenancy.Load(); t != nil {
		t.Configure(r.Config)
	}
}

// opened has a tenancy that was opened with a record go by what has become of it
// since; later changes it is told.
func (e *entry) opened(t *tenancy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tenancy.Store(t)
	t.Configure(e.record.Load().Config)
}

// close puts the site to sleep when the last request on it has ended.
func (e *entry) close() {
	if t := e.serving.Swap(nil); t != nil && t.pins.Retire() {
		t.end()
	}
}

// opening is one attempt to open a site, which everybody waits for who needs it.
type opening struct {
	done  chan struct{} // closed when it has ended
	err   error
	ended time.Time
}

// wake returns the tenancy of a site and holds it: who gets it has to
// release it. A sleeping site is opened; many who come at once wait for one
// opening.
func (s *Set) wake(ctx context.Context, e *entry) (*tenancy, error) {
	for {
		if t := e.serving.Load(); t != nil && t.pins.Take() {
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
			if t := e.serving.Load(); t != nil && !t.pins.Retired() {
				return o // somebody was faster
			}
		default:
			return o
		}
	}
	o := &opening{done: make(chan struct{})}
	if err := s.countOpening(); err != nil {
		o.err = err
		close(o.done)
		return o
	}
	e.opening = o
	go s.runOpening(e, o)
	return o
}

// countOpening counts a tenancy that CloseAll has to wait for.
func (s *Set) countOpening() error {
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
	made, err := s.openEntry(e)
	if !made {
		s.open.Done() // else the tenancy does, when it ends
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errClosed) {
		s.c.Logger.Error("a site cannot be opened", "site", e.name, "error", err)
	}
	o.err, o.ended = err, time.Now()
	close(o.done)
}

// openEntry opens a site and reports whether there is a tenancy now, which may not
// serve.
func (s *Set) openEntry(e *entry) (made bool, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, openTimeout)
	defer cancel()
	// Two tenancies of one site at a time would get in each other's way: the one
	// before ends first, even where it belonged to a site that was dropped.
	if before := s.latest(e.name, nil); before != nil {
		select {
		case <-before.ended:
		case <-ctx.Done():
			return false, fault.Wrap(fault.Unavailable, "", ctx.Err(), "Requests to what was this site before have not ended")
		}
	}
	r := e.record.Load()
	if err := s.registry.Enter(ctx, r); err != nil {
		return false, fmt.Errorf("open site %s: %w", e.name, err)
	}
	t, err := s.newTenancy(ctx, e, r)
	if err != nil {
		return false, err
	}
	defer t.release()
	s.latest(e.name, t)
	e.opened(t)
	t.RefreshPlugins(ctx)
	return true, s.serve(e, t)
}

// serve has a tenancy take requests, unless the site was dropped or the server ends
// meanwhile.
func (s *Set) serve(e *entry, t *tenancy) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.table.Load().byName[e.name] != e {
		t.pins.Retire()
		if s.closed {
			return errClosed
		}
		return missing(e.name)
	}
	e.serving.Store(t)
	return nil
}

// latest notes the tenancy that was opened last under a name, or with nil returns
// the one before.
func (s *Set) latest(name string, t *tenancy) *tenancy {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	if t != nil {
		s.last[name] = t
	}
	return s.last[name]
}

// notLatest forgets a tenancy that has ended.
func (s *Set) notLatest(t *tenancy) {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	if s.last[t.entry.name] == t {
		delete(s.last, t.entry.name)
	}
}
