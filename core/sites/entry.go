package sites

import (
	"sync"
	"sync/atomic"

	"armature/core/sites/registry"
)

// entry is a site there is. Asleep it is this and nothing more: no database, no
// goroutine, no file.
type entry struct {
	name   string
	record atomic.Pointer[registry.Record] // as last looked at; of one site

	tenancy atomic.Pointer[tenancy] // open, or on its way to be opened or closed
	serving atomic.Pointer[tenancy] // takes requests

	mu      sync.Mutex // of what follows, and of record and tenancy together
	opening *opening   // the latest
	gone    error      // why the site takes no requests any more; nil: it does
}

func newEntry(r *registry.Record) *entry {
	e := &entry{name: r.Name}
	e.record.Store(r)
	return e
}

// update takes over what a look has found. Looks come one after the other, so
// that what was read earlier never takes the place of what was read later.
func (e *entry) update(r *registry.Record) {
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

// serve has a tenancy take requests, unless the site has gone meanwhile.
func (e *entry) serve(t *tenancy) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone != nil {
		t.pins.Retire()
		return e.gone
	}
	e.serving.Store(t)
	return nil
}

// close puts the site to sleep when the last request on it has ended.
func (e *entry) close() {
	if t := e.serving.Swap(nil); t != nil {
		t.retire()
	}
}

// leave closes the site, which is never opened again; why is what is said of that.
func (e *entry) leave(why error) {
	e.mu.Lock()
	e.gone = why
	e.mu.Unlock()
	e.close()
}

// left is what leave was told; nil: the site is there.
func (e *entry) left() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

// sleep retires a tenancy that nobody holds, and reports whether it did: then it is
// to be ended.
func (e *entry) sleep(t *tenancy) bool {
	if !t.pins.RetireUnused() {
		return false
	}
	e.serving.CompareAndSwap(t, nil)
	return true
}

// letSleep releases a tenancy that was borrowed. The last of those who borrow a site
// that slept ends it, unless a request has come meanwhile.
func (e *entry) letSleep(t *tenancy) {
	if t.used.recent() {
		t.woken.Store(false)
	}
	woken := t.woken.Load()
	t.release()
	if woken && e.sleep(t) {
		t.end()
	}
}
