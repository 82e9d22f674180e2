package admission

import (
	"runtime"
	"time"

	"armature/core/fair"
	"armature/runtime/engine/internal/processor"
)

// turnTime is after how much time a call that holds a slot passes it on.
const turnTime = 500 * time.Microsecond

// Turn is the slot of a chain of nested calls, which run on one goroutine. The zero
// Turn holds none.
type Turn struct {
	Slots *Slots
	Party string         // whose calls the chain shares slots with
	Used  processor.Time // by the chain
	Work  *fair.Work     // whose processor the chain has given back for slots; nil: none

	held, had bool
	since     time.Time // when it last let others run
}

// Over reports whether the chain has held its slot for as long as it may.
func (t *Turn) Over(now time.Time) bool { return t.held && now.Sub(t.since) >= turnTime }

// Take takes a slot, or passes it on when others wait, and lets the Go scheduler run
// something else. It returns how long that made the chain wait, and false when stop
// ended the wait: then it holds none.
func (t *Turn) Take(stop Waiter) (waited time.Duration, ok bool) {
	counted := t.Used.Stop()
	switch {
	case !t.held:
		waited, ok = t.enter(stop)
	case t.Slots.Waiting() > 0:
		began := time.Now()
		t.held = t.Slots.Pass(t.Party, stop)
		waited, ok = time.Since(began), t.held
	default:
		ok = true
	}
	if !ok {
		return waited, false
	}
	// Whoever passes a slot on has the next guest run on its processor at once, before
	// all that waits there for less: so guests would go round among themselves.
	runtime.Gosched()
	t.since = time.Now()
	if counted {
		t.Used.Start()
	}
	return waited, true
}

func (t *Turn) enter(stop Waiter) (waited time.Duration, ok bool) {
	began := time.Now()
	if t.held = t.Slots.Acquire(t.Party, t.had, stop); t.held {
		t.had = true
	}
	return time.Since(began), t.held
}

// Leave gives the slot back, if the chain holds one.
func (t *Turn) Leave() {
	if t.held {
		t.held = false
		t.Slots.Release(t.Party)
	}
}

// Pause is what a chain that waits for something outside takes up again.
type Pause struct{ held, counted bool }

// Pause gives the slot back until Resume.
func (t *Turn) Pause() Pause {
	p := Pause{t.held, t.Used.Stop()}
	t.Leave()
	return p
}

// Resume takes a slot again if the chain held one before the pause. It returns what
// Take does.
func (t *Turn) Resume(p Pause, stop Waiter) (waited time.Duration, ok bool) {
	if p.held && !t.held {
		if waited, ok = t.enter(stop); !ok {
			return waited, false
		}
	}
	if p.counted {
		t.Used.Start()
	}
	return waited, true
}
