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

// Turns let one at a time go on. Parties come one after the other, and of a party who
// came first.
type Turns struct {
	most int

	mu      sync.Mutex
	taken   bool
	waiting map[any][]*waiter
	order   []any // the parties that wait, the next one first
}

type waiter struct {
	come chan struct{} // closed with its turn
}

// NewTurns makes Turns for which at most so many of each party wait.
func NewTurns(most int) *Turns { return &Turns{most: most, waiting: map[any][]*waiter{}} }

// Take waits for a turn, which Pass ends. It is ErrFull at once when too many of the
// party wait, and ctx's error when that ends first. A party is any value that may be
// the key of a map.
func (t *Turns) Take(ctx context.Context, party any) error {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
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
		t.Pass() // the turn came at the same moment
	}
	return ctx.Err()
}

// Pass ends a turn.
func (t *Turns) Pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.taken = false
		return
	}
	party := t.order[0]
	queue := t.waiting[party]
	close(queue[0].come)
	t.order = slices.Delete(t.order, 0, 1)
	if t.keep(party, slices.Delete(queue, 0, 1)) {
		t.order = append(t.order, party)
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
