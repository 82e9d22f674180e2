package engine

import "time"

// processor is the time of processors that a chain of nested calls has used, from
// its first interruption on: what is shorter is bounded by its fuel. It is that of
// the thread where the system says so, and else the time on the clock, waits left out.
type processor struct {
	spent   time.Duration // in finished stretches
	running bool
	began   time.Time // of this stretch
	thread  int       // which it began on
	at      time.Duration
}

// lookEvery is how often the thread's time is read, which takes a system call.
const lookEvery = 250 * time.Microsecond

// start begins a stretch.
func (p *processor) start() {
	p.began, p.running = time.Now(), true
	p.thread, p.at, _ = threadTime()
}

// stop ends a stretch, before the chain waits or lets others run on its thread; false
// if there was none.
func (p *processor) stop() bool {
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

// look brings spent up to date where that was last done a while ago.
func (p *processor) look(now time.Time) {
	if p.running && now.Sub(p.began) < lookEvery {
		return
	}
	p.stop()
	p.start()
}

// checkProcessor ends the call when it, or one that it is nested in, has used as much
// time as its fuel is taken for.
func (c *Call) checkProcessor(now time.Time, used uint64) {
	if !c.module.engine.cfg.ProcessorTime {
		return
	}
	c.turn.processor.look(now)
	for of := c; of != nil; of = of.Parent {
		if c.turn.processor.spent-of.processorBefore >= timeOf(of.limits.Fuel) {
			c.stop(OutOfFuel, "%d units", used)
		}
	}
}

// timeOf is how long fuel is taken for.
func timeOf(fuel uint64) time.Duration {
	return time.Duration(fuel/perSecond)*time.Second + time.Duration(fuel%perSecond)*time.Second/perSecond
}
