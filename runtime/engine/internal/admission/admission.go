// Package admission has long-running guests take turns: by slots, of which each
// party gets its share.
package admission

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Slots keep long-running guests from taking every core, and one party's from
// taking every slot. A call needs one once it has used much fuel, so short
// calls, nearly all of them, never come here; a call that holds a slot passes it
// on after as much again when others wait, and gives it up while it waits
// for something itself. Slots are safe for concurrent use.
//
// A slot goes to the party that holds the fewest; among those, to the one that
// has waited longest for its turn. So however many calls a party has, another
// one's wait is a turn of each party at most. Within a party a call that asks for
// the first time goes before those that had their turn, except every fourth time,
// so that neither starves the other.
type Slots struct {
	waiting atomic.Int64 // calls in all queues

	mu      sync.Mutex
	free    int               // slots nobody holds; none while somebody waits
	parties map[string]*party // those that hold slots or wait
	order   []*party          // those that wait, the next one first
}

// party is whose calls share their slots among themselves: a site.
type party struct {
	name   string
	held   int       // slots
	first  []*waiter // asking for the first time
	again  []*waiter // had a turn before
	handed int
}

type waiter struct {
	party *party
	ready chan struct{} // closed when it has a slot
}

// New makes so many slots.
func New(slots int) *Slots {
	return &Slots{free: slots, parties: map[string]*party{}}
}

// Waiting is how many calls wait for a slot.
func (a *Slots) Waiting() int { return int(a.waiting.Load()) }

// Parties is how many parties hold slots or wait for one.
func (a *Slots) Parties() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.parties)
}

// Waiter is a call whose wait may end before it is served. It is asked for the
// channel only when there is a wait.
type Waiter interface{ Done() <-chan struct{} }

// Acquire waits for a slot of that party, until stop's channel is closed; it reports whether
// it got one. A call that had its turn asks again.
func (a *Slots) Acquire(name string, again bool, stop Waiter) bool {
	a.mu.Lock()
	p := a.party(name)
	if a.free > 0 {
		a.free--
		p.held++
		a.mu.Unlock()
		return true
	}
	w := a.enqueue(p, again)
	a.mu.Unlock()
	return a.wait(w, stop)
}

// Pass gives the slot of a call to whoever is next, which may be the call itself,
// and waits for the call's next turn as Acquire does.
func (a *Slots) Pass(name string, stop Waiter) bool {
	a.mu.Lock()
	p := a.party(name)
	p.held--
	w := a.enqueue(p, true)
	a.hand()
	a.mu.Unlock()
	return a.wait(w, stop)
}

// Release gives a slot back.
func (a *Slots) Release(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.party(name)
	p.held--
	a.hand()
	a.forget(p)
}

func (a *Slots) wait(w *waiter, stop Waiter) bool {
	select {
	case <-w.ready:
		return true
	default:
	}
	select {
	case <-w.ready:
		return true
	case <-stop.Done():
	}
	if a.withdraw(w) {
		return false
	}
	a.Release(w.party.name) // the slot arrived at the same moment
	return false
}

func (a *Slots) party(name string) *party {
	p := a.parties[name]
	if p == nil {
		p = &party{name: name}
		a.parties[name] = p
	}
	return p
}

// forget drops a party that neither holds a slot nor waits.
func (a *Slots) forget(p *party) {
	if p.held == 0 && p.idle() {
		delete(a.parties, p.name)
	}
}

func (a *Slots) enqueue(p *party, again bool) *waiter {
	if p.idle() {
		a.order = append(a.order, p)
	}
	w := &waiter{party: p, ready: make(chan struct{})}
	if again {
		p.again = append(p.again, w)
	} else {
		p.first = append(p.first, w)
	}
	a.waiting.Add(1)
	return w
}

// hand gives a slot that nobody holds to the next call, or puts it by.
func (a *Slots) hand() {
	if len(a.order) == 0 {
		a.free++
		return
	}
	next := 0
	for i, p := range a.order {
		if p.held < a.order[next].held {
			next = i
		}
	}
	p := a.order[next]
	a.order = slices.Delete(a.order, next, next+1)
	w := p.pop()
	if !p.idle() {
		a.order = append(a.order, p)
	}
	p.held++
	a.waiting.Add(-1)
	close(w.ready)
}

// withdraw takes a waiter out of its queue; false if it has been served.
func (a *Slots) withdraw(w *waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := w.party
	for _, queue := range []*[]*waiter{&p.first, &p.again} {
		i := slices.Index(*queue, w)
		if i < 0 {
			continue
		}
		*queue = slices.Delete(*queue, i, i+1)
		a.waiting.Add(-1)
		if p.idle() {
			a.order = slices.DeleteFunc(a.order, func(o *party) bool { return o == p })
			a.forget(p)
		}
		return true
	}
	return false
}

// idle reports whether no call of the party waits.
func (p *party) idle() bool { return len(p.first) == 0 && len(p.again) == 0 }

func (p *party) pop() *waiter {
	p.handed++
	from := &p.first
	if len(*from) == 0 || p.handed%4 == 0 && len(p.again) > 0 {
		from = &p.again
	}
	w := (*from)[0]
	*from = slices.Delete(*from, 0, 1)
	return w
}
