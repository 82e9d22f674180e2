package sites

import (
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
	pins     pin.Count
	releaser func() // release, bound once
	used     usage
	woken    atomic.Bool    // by who borrows it, for whom alone it is open
	after    func(*tenancy) // called when it is closed; closes ended
	ended    chan struct{}

	rounds   *atomic.Int64 // of looking for changes of others
	checked  atomic.Int64  // the round at which they were taken over
	checking *semaphore.Weighted
}

// newTenancy is a tenancy that is held, and has no site yet.
func newTenancy(rounds *atomic.Int64, after func(*tenancy)) *tenancy {
	t := &tenancy{after: after, ended: make(chan struct{}), rounds: rounds, checking: semaphore.NewWeighted(1)}
	t.releaser, t.used.last = t.release, time.Now()
	t.pins.Take()
	t.checked.Store(rounds.Load())
	return t
}

// active reports whether changes of others were taken over lately, as they are
// while requests come.
func (t *tenancy) active() bool { return t.checked.Load() >= t.rounds.Load() }

// release gives the site back after a request.
func (t *tenancy) release() {
	if t.pins.Drop() {
		t.end()
	}
}

// retire has the tenancy end when nobody holds it any more.
func (t *tenancy) retire() {
	if t.pins.Retire() {
		t.end()
	}
}

// end closes a tenancy that is retired and that nobody holds any more.
func (t *tenancy) end() {
	t.Close()
	t.after(t)
}
