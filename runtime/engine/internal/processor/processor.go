// Package processor measures the time of processors that goroutines use.
package processor

import "time"

// Time is the time of processors that a chain of nested calls has used, from
// its first interruption on: what is shorter is bounded by its fuel. It is that of
// the thread where the system says so, and else the time on the clock, waits left out.
type Time struct {
	spent   time.Duration // in finished stretches
	running bool
	began   time.Time // of this stretch
	thread  int       // which it began on
	at      time.Duration
}

// Spent is the time used in finished stretches.
func (p *Time) Spent() time.Duration { return p.spent }

// lookEvery is how often the thread's time is read, which takes a system call.
const lookEvery = 250 * time.Microsecond

// Start begins a stretch.
func (p *Time) Start() {
	p.began, p.running = time.Now(), true
	p.thread, p.at, _ = threadTime()
}

// Stop ends a stretch, before the chain waits or lets others run on its thread; false
// if there was none.
func (p *Time) Stop() bool {
	if !p.running {
		return false
	}
	p.running = false
	took := time.Since(p.began)
	thread, at, ok := threadTime()
	switch {
	case !ok:
	case thread == p.thread:
		took = min(took, at-p.at)
	default: // a host function has waited, and went on elsewhere
		took = min(took, 2*lookEvery)
	}
	p.spent += max(took, 0)
	return true
}

// Look brings spent up to date where that was last done a while ago.
func (p *Time) Look(now time.Time) {
	if p.running && now.Sub(p.began) < lookEvery {
		return
	}
	p.Stop()
	p.Start()
}
