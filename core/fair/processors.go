package fair

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// unannounced is how long work may hold a processor before it counts as waiting for
	// something that it has not told of: another goes on then. Few pieces of work of a
	// request compute for longer.
	unannounced = 5 * time.Millisecond
	// lingering is how long a party counts after its last piece of work: whoever asks
	// again at once finds that room was kept.
	lingering = 50 * time.Millisecond
	// delegated is how many pieces of work of a party others may compute for, such as a
	// database, for each processor; and delegating for how long that counts. A database
	// has processors too, which parties share by how many ask at once.
	delegated  = 2
	delegating = 250 * time.Millisecond
	// astray is how many pieces of work of a party may be on a processor that has been
	// given to another, for each processor.
	astray = 8
)

// Processors shares what computes among parties. While one party alone has work, all of
// it goes on at once, as the scheduler of Go likes it. Where several have, as many pieces
// of work compute as there are processors, and the next one is of the party that has
// computed least: thousands of requests of one site leave another's few their part.
//
// A processor is held only while computing. What waits, for a database, a client or
// memory, gives it back before (Pause, Delegate) and takes one again after: so whoever holds one
// needs nothing that another holds. What does wait with one loses it after unannounced.
// It is safe for concurrent use.
type Processors struct {
	most int

	mu      sync.Mutex
	free    int
	holding []*Work // a processor each, at most most
	parties map[string]*party
	spent   time.Duration // what the party whose turn came last had computed
	ticking bool
}

// party is one of those that share.
type party struct {
	present int       // pieces of work that have begun and not ended
	left    time.Time // when the last one ended, where present is 0
	spent   time.Duration
	astray  int     // pieces of work whose processor another has got
	asking  []*Work // that others compute for, for a short time until now
	again   []*Work // that wait to go on, who came first first
	first   []*Work // that wait to begin
}

// Work is one piece of work of a party, such as a request. It is used by one goroutine
// at a time. The zero Work holds nothing and never waits.
type Work struct {
	of    *Processors
	party *party
	state state // guarded by of.mu
	since time.Time
	come  chan struct{} // closed with a processor
}

// state is what a piece of work has.
type state uint8

const (
	idle    state = iota
	waiting       // in a queue of its party
	alone         // goes on uncounted: no other party had work
	counted       // holds a processor
	asking        // another process computes for it
	strayed       // goes on, and its processor is another's
	ended         // takes nothing any more
)

// NewProcessors makes Processors of which there are so many.
func NewProcessors(most int) *Processors {
	return &Processors{most: most, free: most, parties: map[string]*party{}}
}

// Begin begins w as work of a party, which End ends. It computes nothing yet.
func (p *Processors) Begin(w *Work, of string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.parties[of]
	if own == nil {
		own = &party{}
		p.parties[of] = own
	}
	if own.present == 0 {
		// Nobody saves up: who did nothing for an hour has no claim to an hour now.
		own.spent = max(own.spent, p.spent)
	}
	own.present++
	w.of, w.party = p, own
	p.watch()
}

// End ends the work, and gives back what it holds.
func (w *Work) End() {
	p := w.of
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.state == ended {
		return
	}
	p.give(w)
	w.state = ended
	w.party.present--
	if w.party.present == 0 {
		w.party.left = time.Now()
	}
}

// Take waits for a processor, which Give or End gives back; it holds one at most. The
// error is ctx's, if that ends first.
func (w *Work) Take(ctx context.Context) error { return w.take(ctx, false) }

// Give gives the processor back, and reports whether w had one.
func (w *Work) Give() bool {
	if w == nil || w.of == nil {
		return false
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	return w.of.give(w)
}

// delegate is Give for as long as another process computes for w.
func (w *Work) delegate() bool {
	if w == nil || w.of == nil {
		return false
	}
	p := w.of
	p.mu.Lock()
	defer p.mu.Unlock()
	was := w.state
	if !p.give(w) {
		return false
	}
	if was != alone {
		w.state, w.since = asking, time.Now()
		w.party.asking = append(w.party.asking, w)
	}
	return true
}

// take is Take; of a party, who has computed already goes before who begins.
func (w *Work) take(ctx context.Context, again bool) error {
	if w == nil || w.of == nil {
		return nil
	}
	p := w.of
	p.mu.Lock()
	switch {
	case w.state == asking:
		p.give(w)
	case w.state != idle:
		p.mu.Unlock()
		return nil
	}
	if len(p.parties) < 2 {
		w.state = alone
		p.mu.Unlock()
		return nil
	}
	if again {
		w.party.again = append(w.party.again, w)
	} else {
		w.party.first = append(w.party.first, w)
	}
	w.state, w.come = waiting, nil
	p.hand()
	if w.state != waiting {
		p.mu.Unlock()
		return nil
	}
	come := make(chan struct{})
	w.come = come
	p.mu.Unlock()
	select {
	case <-come:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.state != waiting {
		p.give(w) // it came at the same moment
		return ctx.Err()
	}
	w.party.again, w.party.first = without(w.party.again, w), without(w.party.first, w)
	w.state = idle
	return ctx.Err()
}

func without(all []*Work, w *Work) []*Work {
	return slices.DeleteFunc(all, func(other *Work) bool { return other == w })
}

// give takes back what w has.
func (p *Processors) give(w *Work) bool {
	switch w.state {
	case counted:
		w.party.spent += time.Since(w.since)
		p.free++
		p.holding = without(p.holding, w)
		defer p.hand()
	case strayed:
		w.party.spent += time.Since(w.since)
		w.party.astray--
		defer p.hand()
	case asking:
		w.party.asking = without(w.party.asking, w)
		defer p.hand()
	case alone:
	default:
		return false
	}
	w.state = idle
	return true
}

// hand gives the free processors to those who are next.
func (p *Processors) hand() {
	for p.free > 0 {
		var next *party
		for _, one := range p.parties {
			if one.waits(p.most) && (next == nil || one.spent < next.spent) {
				next = one
			}
		}
		if next == nil {
			return
		}
		w := next.pop()
		p.spent = max(p.spent, next.spent)
		p.free--
		p.holding = append(p.holding, w)
		w.state, w.since = counted, time.Now()
		w.wake()
	}
}

// waits reports whether a party has somebody who may have a processor of so many. Who
// goes on may have one always: others of the party may wait for what it holds.
func (o *party) waits(most int) bool {
	return len(o.again) > 0 || len(o.first) > 0 && o.astray < most*astray && len(o.asking) < most*delegated
}

func (o *party) pop() *Work {
	from := &o.first
	if len(o.again) > 0 {
		from = &o.again
	}
	w := (*from)[0]
	*from = slices.Delete(*from, 0, 1)
	return w
}

// wake lets w go on, if it waits already.
func (w *Work) wake() {
	if w.come != nil {
		close(w.come)
		w.come = nil
	}
}

// watch looks at who holds what from now on, while several parties have work.
func (p *Processors) watch() {
	if !p.ticking && len(p.parties) > 1 {
		p.ticking = true
		time.AfterFunc(unannounced, p.tick)
	}
}

// tick takes the processor of those who have had it for long, and forgets parties that
// are gone. It calls itself again as long as there are several.
func (p *Processors) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticking = false
	now := time.Now()
	p.holding = slices.DeleteFunc(p.holding, func(w *Work) bool {
		held := now.Sub(w.since)
		if held < unannounced {
			return false
		}
		w.state, w.since = strayed, now
		w.party.spent += held
		w.party.astray++
		p.free++
		return true
	})
	for name, one := range p.parties {
		one.asking = slices.DeleteFunc(one.asking, func(w *Work) bool {
			if now.Sub(w.since) < delegating {
				return false
			}
			w.state = idle
			return true
		})
		if one.present == 0 && now.Sub(one.left) >= lingering {
			delete(p.parties, name)
		}
	}
	if len(p.parties) < 2 {
		p.open()
		return
	}
	p.hand()
	p.watch()
}

// open lets everybody go on: no other party has work any more.
func (p *Processors) open() {
	for _, one := range p.parties {
		for _, w := range append(one.again, one.first...) {
			w.state = alone
			w.wake()
		}
		one.again, one.first = nil, nil
	}
}

type workKey struct{}

// With returns a context of the work.
func With(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// Pause gives the processor of ctx's work back, for as long as it waits for something;
// Resume of the answer takes one again. It is nil, which can be resumed too, where ctx
// holds none.
func Pause(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	if w.Give() {
		return w
	}
	return nil
}

// Delegate is Pause for what another process computes, such as a database.
func Delegate(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	if w.delegate() {
		return w
	}
	return nil
}

// Resume waits for a processor after a Pause; whoever has computed already goes before
// those who begin. Where ctx has ended it goes on without: what comes next finds that.
func (w *Work) Resume(ctx context.Context) { _ = w.take(ctx, true) }
