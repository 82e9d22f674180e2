package engine

import "time"

// sweepUntil runs until stop is closed: it gives idle instances' pages back, then
// closes the instances.
func (e *Engine) sweepUntil(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	ticker := time.NewTicker(max(min(e.cfg.IdleTrim, e.cfg.IdleClose)/2, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			e.sweep(now)
		case <-stop:
			return
		}
	}
}

// sweep does what is due at now.
func (e *Engine) sweep(now time.Time) {
	for _, m := range e.loaded() {
		expired := m.pool.takeIdle(func(in *resident) bool { return now.Sub(in.idleSince) >= e.cfg.IdleClose })
		for _, in := range expired {
			m.drop(in)
		}
		m.trimIdle(func(in *resident) bool { return now.Sub(in.idleSince) >= e.cfg.IdleTrim }, false)
	}
}

// giveUp has all idle instances give back what they keep.
func (e *Engine) giveUp() {
	for _, m := range e.loaded() {
		m.trimIdle(func(*resident) bool { return true }, true)
	}
}

// evictOne closes the longest idle instance of some module, to make room for
// another; false if none is idle.
func (e *Engine) evictOne() bool {
	for _, m := range e.loaded() {
		first := true
		for _, in := range m.pool.takeIdle(func(*resident) bool { defer func() { first = false }(); return first }) {
			m.drop(in)
			return true
		}
	}
	return false
}

// loaded lists the modules that are ready.
func (e *Engine) loaded() []*Module {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ms []*Module
	for _, l := range e.modules {
		select {
		case <-l.done:
			if l.module != nil {
				ms = append(ms, l.module)
			}
		default:
		}
	}
	return ms
}
