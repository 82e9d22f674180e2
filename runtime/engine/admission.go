package engine

import (
	"sync"
	"sync/atomic"
)

// admission keeps long-running guests from taking every core. A call needs a
// slot from its first interruption on, so short calls, nearly all of them, never
// come here; a call that holds a slot passes it on at its next interruption
// when others wait, and gives it up while it waits for something itself.
//
// A call that asks for the first time goes before those that had their turn,
// except every fourth time, so that neither starves the other.
type admission struct {
	// free is the slots less their holders and waiters; the lock is needed only
	// when it is below zero.
	free atomic.Int64

	mu     sync.Mutex
	first  []*waiter // asking for the first time
	again  []*waiter // had a turn before
	owed   int       // slots given back while their taker was still on its way into a queue
	handed int
}

type waiter struct{ ready chan struct{} }

func newAdmission(slots int) *admission {
	a := &admission{}
	a.free.Store(int64(slots))
	return a
}

// acquire waits for a slot, until stop's channel is closed; it reports whether
// it got one. stop is asked only when there is a wait.
func (a *admission) acquire(again bool, stop func() <-chan struct{}) bool {
	if a.free.Add(-1) >= 0 {
		return true
	}
	a.mu.Lock()
	if a.owed > 0 {
		a.owed--
		a.mu.Unlock()
		return true
	}
	w := &waiter{ready: make(chan struct{})}
	if again {
		a.again = append(a.again, w)
	} else {
		a.first = append(a.first, w)
	}
	a.mu.Unlock()

	select {
	case <-w.ready:
		return true
	case <-stop():
	}
	if a.withdraw(w) {
		return false
	}
	a.release() // the slot arrived at the same moment
	return false
}

// release gives a slot back.
func (a *admission) release() {
	if a.free.Add(1) > 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.pop()
	if w == nil {
		a.owed++
		return
	}
	close(w.ready)
}

// contended reports whether a call waits for a slot.
func (a *admission) contended() bool { return a.free.Load() < 0 }

func (a *admission) pop() *waiter {
	a.handed++
	from := &a.first
	if len(*from) == 0 || a.handed%4 == 0 && len(a.again) > 0 {
		from = &a.again
	}
	if len(*from) == 0 {
		return nil
	}
	w := (*from)[0]
	*from = (*from)[1:]
	return w
}

// withdraw takes a waiter out of its queue; false if it has been served.
func (a *admission) withdraw(w *waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, queue := range []*[]*waiter{&a.first, &a.again} {
		for i, q := range *queue {
			if q == w {
				*queue = append((*queue)[:i:i], (*queue)[i+1:]...)
				a.free.Add(1)
				return true
			}
		}
	}
	return false
}
