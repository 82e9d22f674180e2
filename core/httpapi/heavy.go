package httpapi

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"armature/core/fair"
	"armature/core/fault"
	"armature/core/query"
)

// What makes a request a heavy one, which keeps a processor busy for long: a large body
// is decoded, checked, cleaned, stored and shown again; a pattern of thousands of letters
// is held against every row; a column that is asked for forty times is written as often.
const (
	heavyBody  = 256 << 10 // bytes
	heavyQuery = 4 << 10   // bytes of the query string
)

// How many heavy requests of a site wait for others of it, at most, and how long.
const (
	heavyWaiting  = 64
	heavyPatience = 30 * time.Second
)

// turns have the heavy requests of a site go on one after the other, on half of the
// processors, however many it sends: the others are for everybody's light ones. Who has
// a turn waits for nobody who needs one, since it is taken before any transaction.
type turns struct {
	atOnce int64

	mu    sync.Mutex
	sites map[string]*lane // one that was there once is kept: it is as small as its name
}

// lane is the turns of one site.
type lane struct {
	*semaphore.Weighted
	waiting int // guarded by turns.mu
}

func newTurns() *turns {
	return &turns{atOnce: int64(max(1, runtime.GOMAXPROCS(0)/2)), sites: map[string]*lane{}}
}

// take waits for a turn, which pass ends. Errors: ctx's, if that ends first; Unavailable
// where too many of the site wait, or it takes too long.
func (t *turns) take(ctx context.Context, site string) (pass func(), err error) {
	l := t.join(site)
	if l == nil {
		return nil, busy()
	}
	defer t.leave(l)
	patient, cancel := context.WithTimeout(ctx, heavyPatience)
	defer cancel()
	if err := l.Acquire(patient, 1); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, busy()
	}
	return func() { l.Release(1) }, nil
}

// join has somebody wait in the lane of a site; nil: too many do.
func (t *turns) join(site string) *lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.sites[site]
	if l == nil {
		l = &lane{Weighted: semaphore.NewWeighted(t.atOnce)}
		t.sites[site] = l
	}
	if l.waiting >= heavyWaiting {
		return nil
	}
	l.waiting++
	return l
}

func (t *turns) leave(l *lane) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.waiting--
}

// errBusy is the cause of the fault of who got no turn. It knows the headers of the
// answer.
type errBusy struct{}

// Error tells the log what there was too much of.
func (errBusy) Error() string { return "too many heavy requests of the site wait" }

// SetHeaders sets Retry-After.
func (errBusy) SetHeaders(h http.Header) { h.Set("Retry-After", "1") }

func busy() error {
	return fault.Wrap(fault.Unavailable, "", errBusy{}, "The site has too many large requests to work on; try again in a moment")
}

// heavy takes a turn for the rest of the exchange until its answer begins, or until
// pass is called.
func (x *exchange) heavy() (err error) {
	if x.pass == nil {
		x.work.Give()
		if x.pass, err = x.server.turns.take(x.ctx, x.site.Name); err == nil {
			err = x.work.Take(x.ctx)
		}
	}
	return err
}

// light ends the exchange's turn: what comes now has bounds of its own, as guests have,
// or waits for the client.
func (x *exchange) light() {
	if x.pass != nil {
		x.pass()
		x.pass = nil
	}
}

// compute waits for a processor, where other sites compute too. It is held until the
// answer begins, but for what the exchange waits for.
func (x *exchange) compute() error {
	x.server.processors.Begin(&x.work, x.site.Name)
	x.ctx = fair.With(x.ctx, &x.work)
	return x.work.Take(x.ctx)
}

// heavyList reports whether a list may take long for what is asked of each row.
func (x *exchange) heavyList(q *query.Query) bool {
	if len(x.r.URL.RawQuery) > heavyQuery {
		return true
	}
	for i := range q.Fields {
		f := &q.Fields[i]
		before := func(g query.Field) bool { return g.Ref == f.Ref && g.Func == "" }
		if f.Func == "" && !f.Star && f.Nested == nil && slices.ContainsFunc(q.Fields[:i], before) {
			return true
		}
	}
	return false
}
