package live

import (
	"sync"
	"sync/atomic"
	"time"

	"armature/core/fault"
)

// ProcessConfig is what a Process needs.
type ProcessConfig struct {
	Most      int           // streams of all sites; 0: any number
	Heartbeat time.Duration // how often a stream is told something when there is nothing to tell; 0: 15 s
	Poll      time.Duration // how often it is looked for changes of other processes; 0: 500 ms
	Buffer    int           // bytes that wait for a slow reader, at most; 0: 256 KiB
}

// Process is the streams of all sites of a process.
type Process struct {
	c ProcessConfig

	open, events, gaps, refused, evaluated atomic.Int64

	mu       sync.Mutex
	services map[*Service]struct{}
	draining bool
}

// Counts are what /metrics shows of streams.
type Counts struct {
	Streams, Events, Gaps, Refused, Evaluated int64
}

// NewProcess makes the streams of a process, of which there are none yet.
func NewProcess(c ProcessConfig) *Process {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.Poll <= 0 {
		c.Poll = 500 * time.Millisecond
	}
	if c.Buffer <= 0 {
		c.Buffer = 256 << 10
	}
	return &Process{c: c, services: map[*Service]struct{}{}}
}

// Counts returns what there is now and was since the start.
func (p *Process) Counts() Counts {
	return Counts{p.open.Load(), p.events.Load(), p.gaps.Load(), p.refused.Load(), p.evaluated.Load()}
}

// Drain ends all streams, whose clients are told to come again in a moment: to another
// process, or to what takes the place of this one. None is opened any more.
func (p *Process) Drain() {
	p.mu.Lock()
	p.draining = true
	all := make([]*Service, 0, len(p.services))
	for s := range p.services {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.endAll()
	}
}

func (p *Process) add(s *Service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.services[s] = struct{}{}
}

func (p *Process) remove(s *Service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.services, s)
}

// admit counts one more stream.
func (p *Process) admit() error {
	p.mu.Lock()
	draining := p.draining
	p.mu.Unlock()
	if draining {
		return fault.New(fault.Unavailable, "", "The server is shutting down")
	}
	if n := p.open.Add(1); p.c.Most > 0 && n > int64(p.c.Most) {
		p.open.Add(-1)
		p.refused.Add(1)
		return fault.New(fault.Unavailable, "", "The server has as many streams as it may")
	}
	return nil
}
