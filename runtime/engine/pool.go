package engine

import (
	"sync"
	"time"
)

// pool keeps a module's idle instances, the latest used on top: it is the one
// whose pages are in the caches.
type pool struct {
	mu     sync.Mutex
	idle   []*resident // the longest idle first
	live   int         // instances that exist, idle or not
	closed bool
	empty  chan struct{} // closed when the pool is and no instance lives
}

func newPool() *pool { return &pool{empty: make(chan struct{})} }

// get takes an idle instance. Without one it counts a new one, which the caller
// makes. It reports false when the pool is closed.
func (p *pool) get() (in *resident, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	if n := len(p.idle); n > 0 {
		in = p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		return in, true
	}
	p.live++
	return nil, true
}

// add counts an instance in that was made without get, and takes it.
func (p *pool) add(in *resident, now time.Time) bool {
	p.mu.Lock()
	p.live++
	p.mu.Unlock()
	return p.put(in, now)
}

// put takes an instance back; false if the pool is closed and the caller must
// close the instance.
func (p *pool) put(in *resident, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	in.idleSince = now
	p.idle = append(p.idle, in)
	return true
}

// count returns how many instances are idle and how many live.
func (p *pool) count() (idle, live int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle), p.live
}

// gone counts an instance out.
func (p *pool) gone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live--
	p.signal()
}

// signal needs the lock.
func (p *pool) signal() {
	if p.closed && p.live == 0 {
		close(p.empty)
	}
}

// close lets no instance out any more and returns the idle ones, which the
// caller closes.
func (p *pool) close() []*resident {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.signal()
	return idle
}

// takeIdle removes the instances that match; they all come before the first
// that does not, since idle times are in order.
func (p *pool) takeIdle(match func(*resident) bool) []*resident {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(p.idle) && match(p.idle[n]) {
		n++
	}
	taken := append([]*resident(nil), p.idle[:n]...)
	rest := copy(p.idle, p.idle[n:])
	clear(p.idle[rest:])
	p.idle = p.idle[:rest]
	return taken
}

// putBack returns instances got from takeIdle to the bottom; those the closed
// pool does not take are returned.
func (p *pool) putBack(ins []*resident) []*resident {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ins
	}
	p.idle = append(ins, p.idle...)
	return nil
}
