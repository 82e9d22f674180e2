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
		expired := m.pool.takeIdle(func(in *instance) bool { return now.Sub(in.idleSince) >= e.cfg.IdleClose })
		for _, in := range expired {
			m.drop(in)
		}
		m.trimIdle(func(in *instance) bool { return now.Sub(in.idleSince) >= e.cfg.IdleTrim }, false)
	}
}

// trimIdle has idle instances give their pages back: the longest idle ones that match.
// If all of it is needed, those are closed that cannot.
func (m *Module) trimIdle(match func(*instance) bool, all bool) {
	idle := m.pool.takeIdle(match)
	kept := idle[:0]
	for _, in := range idle {
		if err := in.trim(); err != nil {
			m.engine.log.Warn("give an idle instance's pages back", "module", m.hash, "err", err)
			m.drop(in)
			continue
		}
		if all && in.kept > 0 {
			m.drop(in)
			continue
		}
		kept = append(kept, in)
	}
	for _, in := range m.pool.putBack(kept) {
		m.drop(in)
	}
}

// evict closes the longest idle instance of some module, to make room for
// another; false if none is idle.
func (e *Engine) evict() bool {
	for _, m := range e.loaded() {
		first := true
		for _, in := range m.pool.takeIdle(func(*instance) bool { defer func() { first = false }(); return first }) {
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
