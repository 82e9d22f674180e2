// Package fair shares what there is little of among parties, such as sites: however
// many one of them sends, the others wait for no more than a turn of each.
package fair

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is that as many of the party wait already as may.
var ErrFull = errors.New("fair: too many of the party wait already")

// Turns let so many at a time go on, of each party one. Parties come one after the
// other, and of a party who came first.
type Turns struct {
	most int

	mu      sync.Mutex
	free    int
	taken   map[any]bool // the parties that have a turn
	waiting map[any][]*waiter
	order   []any // the parties that wait, the next one first
}

type waiter struct {
	come chan struct{} // closed with its turn
}

// NewTurns makes Turns of which there is one at a time, and for which at most so many
// of each party wait.
func NewTurns(most int) *Turns { return NewShared(1, most) }

// NewShared makes Turns of which there are several at a time, for different parties.
func NewShared(turns, most int) *Turns {
	return &Turns{most: most, free: turns, taken: map[any]bool{}, waiting: map[any][]*waiter{}}
}

// Take waits for a turn, which Pass ends. It is ErrFull at once when too many of the
// party wait, and ctx's error when that ends first. A party is any value that may be
// the key of a map.
func (t *Turns) Take(ctx context.Context, party any) error {
	t.mu.Lock()
	// While one is free, whoever waits is of a party that has its turn.
	if t.free > 0 && !t.taken[party] {
		t.free--
		t.taken[party] = true
		t.mu.Unlock()
		return nil
	}
	queue := t.waiting[party]
	if len(queue) >= t.most {
		t.mu.Unlock()
		return ErrFull
	}
	if len(queue) == 0 {
		t.order = append(t.order, party)
	}
	w := &waiter{come: make(chan struct{})}
	t.waiting[party] = append(queue, w)
	t.mu.Unlock()
	select {
	case <-w.come:
		return nil
	case <-ctx.Done():
	}
	if !t.withdraw(party, w) {
		t.Pass(party) // the turn came at the same moment
	}
	return ctx.Err()
}

// Pass ends the turn of a party.
func (t *Turns) Pass(party any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.taken, party)
	t.free++
	at := slices.IndexFunc(t.order, func(p any) bool { return !t.taken[p] })
	if at < 0 {
		return
	}
	next := t.order[at]
	queue := t.waiting[next]
	t.free--
	t.taken[next] = true
	close(queue[0].come)
	t.order = slices.Delete(t.order, at, at+1)
	if t.keep(next, slices.Delete(queue, 0, 1)) {
		t.order = append(t.order, next)
	}
}

// withdraw takes a waiter out; false if its turn has come.
func (t *Turns) withdraw(party any, w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.waiting[party]
	at := slices.Index(queue, w)
	if at < 0 {
		return false
	}
	if !t.keep(party, slices.Delete(queue, at, at+1)) {
		t.order = slices.DeleteFunc(t.order, func(p any) bool { return p == party })
	}
	return true
}

// keep notes who of a party still waits, and reports whether anybody does.
func (t *Turns) keep(party any, queue []*waiter) bool {
	if len(queue) == 0 {
		delete(t.waiting, party)
		return false
	}
	t.waiting[party] = queue
	return true
}
