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
	"armature/core/sites/registry"
	"armature/core/tenant"
)

// How long an opening may take, and how long its failure is the answer before
// it is tried again: a site that cannot be opened must not keep the server busy
// with trying.
const (
	openTimeout = time.Minute
	failedFor   = time.Second
)

var errClosed = fault.New(fault.Unavailable, "", "The server is shutting down")

// opening is one attempt to open a site, which everybody waits for who needs it.
type opening struct {
	done  chan struct{} // closed when it has ended
	err   error
	ended time.Time
}

// opener opens sites, each once for everybody who waits for it.
type opener struct {
	c     *tenant.Config
	homes homes
	enter func(context.Context, *registry.Record) error // of the registry

	// rounds counts those in which it was looked at sites. A request finds out by it
	// that its site was not looked at lately.
	rounds atomic.Int64

	ctx    context.Context // of openings; ends with refuse
	cancel context.CancelFunc
	mu     sync.Mutex // of closed, and of open's rise from nothing
	closed bool
	open   sync.WaitGroup // tenancies that are not closed yet

	lastMu sync.Mutex
	last   map[string]*tenancy // by name: the latest, until it has ended
}

func newOpener(c *tenant.Config, h homes, enter func(context.Context, *registry.Record) error) *opener {
	o := &opener{c: c, homes: h, enter: enter, last: map[string]*tenancy{}}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// wake returns the tenancy of a site and holds it: who gets it has to
// release it. A sleeping site is opened; many who come at once wait for one
// opening.
func (o *opener) wake(ctx context.Context, e *entry) (*tenancy, error) {
	for {
		if t := e.serving.Load(); t != nil && t.pins.Take() {
			return t, nil
		}
		a := o.attempt(e)
		select {
		case <-a.done:
			if a.err != nil {
				return nil, a.err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// attempt returns the opening that is running, or has just failed, or a new one.
func (o *opener) attempt(e *entry) *opening {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.opening; a != nil {
		select {
		case <-a.done:
			if a.err != nil && time.Since(a.ended) < failedFor {
				return a
			}
			if t := e.serving.Load(); t != nil && !t.pins.Retired() {
				return a // somebody was faster
			}
		default:
			return a
		}
	}
	a := &opening{done: make(chan struct{})}
	if err := o.count(); err != nil {
		a.err = err
		close(a.done)
		return a
	}
	e.opening = a
	go o.run(e, a)
	return a
}

// count counts a tenancy that has to be waited for.
func (o *opener) count() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	o.open.Add(1)
	return nil
}

// run opens a site on behalf of everybody who waits: whoever asked first may leave
// before it is done.
func (o *opener) run(e *entry, a *opening) {
	made, err := o.openEntry(e)
	if !made {
		o.open.Done() // else the tenancy does, when it ends
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errClosed) {
		o.c.Logger.Error("a site cannot be opened", "site", e.name, "error", err)
	}
	a.err, a.ended = err, time.Now()
	close(a.done)
}

// openEntry opens a site and reports whether there is a tenancy now, which may not
// serve.
func (o *opener) openEntry(e *entry) (made bool, err error) {
	ctx, cancel := context.WithTimeout(o.ctx, openTimeout)
	defer cancel()
	// Two tenancies of one site at a time would get in each other's way: the one
	// before ends first, even where it belonged to a site that was dropped.
	if before := o.latest(e.name); before != nil {
		select {
		case <-before.ended:
		case <-ctx.Done():
			return false, fault.Wrap(fault.Unavailable, "", ctx.Err(), "Requests to what was this site before have not ended")
		}
	}
	r := e.record.Load()
	if err := o.enter(ctx, r); err != nil {
		return false, fmt.Errorf("open site %s: %w", e.name, err)
	}
	t, err := o.openTenancy(ctx, e, r)
	if err != nil {
		return false, err
	}
	defer t.release()
	o.note(e.name, t)
	e.opened(t)
	t.RefreshPlugins(ctx)
	return true, e.serve(t)
}

// openTenancy opens a site as a record has it. The tenancy is held.
func (o *opener) openTenancy(ctx context.Context, e *entry, r *registry.Record) (*tenancy, error) {
	home, err := o.homes.of(r)
	if err != nil {
		return nil, err
	}
	t := newTenancy(&o.rounds, func(t *tenancy) { o.ended(e, t) })
	home.Active, home.Retired = t.active, t.pins.Retired
	if t.Tenant, err = tenant.Open(ctx, o.c, home); err != nil {
		return nil, err
	}
	noteDatabase(t.Tenant)
	return t, nil
}

// ended forgets a tenancy that is closed.
func (o *opener) ended(e *entry, t *tenancy) {
	if o.c.Plugins != nil && errors.Is(e.left(), fs.ErrNotExist) {
		// Dropped while requests ran, which may have kept something since. A site of
		// the same name opens after this.
		o.c.Plugins.Forget(e.name)
	}
	e.tenancy.CompareAndSwap(t, nil)
	o.forget(e.name, t)
	close(t.ended)
	o.open.Done()
}

// latest is the tenancy that was opened last under a name, if it has not ended.
func (o *opener) latest(name string) *tenancy {
	o.lastMu.Lock()
	defer o.lastMu.Unlock()
	return o.last[name]
}

// note notes the tenancy that was opened last under a name.
func (o *opener) note(name string, t *tenancy) {
	o.lastMu.Lock()
	defer o.lastMu.Unlock()
	o.last[name] = t
}

// forget forgets a tenancy that has ended.
func (o *opener) forget(name string, t *tenancy) {
	o.lastMu.Lock()
	defer o.lastMu.Unlock()
	if o.last[name] == t {
		delete(o.last, name)
	}
}

// refuse has no site opened any more.
func (o *opener) refuse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.cancel()
}

// wait waits until the last tenancy is closed.
func (o *opener) wait() { o.open.Wait() }
