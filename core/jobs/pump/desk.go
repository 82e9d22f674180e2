package pump

import (
	"sync"
	"time"
)

// desk is whom the pump has to look at, one site after the other, and what it knows of
// each.
type desk struct {
	mu     sync.Mutex
	more   *sync.Cond
	closed bool
	sites  map[string]*known
	line   []string
}

// known is what is known of a site that has something to do.
type known struct {
	waits bool // in the line
	busy  bool // being looked at
	again bool // and to be looked at once more
	mark  *mark

	flying  map[string]flight // tickets that were handed over, by job
	release func()            // holds the site open while it has jobs that are due; nil: nobody does
	next    time.Time         // its next job is due; zero: none waits
	oldest  time.Time         // its first job was due; zero: none is
	waiting int64             // jobs, as counted at
	at      time.Time
}

type flight struct {
	turn int64
	at   time.Time
}

// flies is how long a ticket is thought to be with river. After that it is handed over
// again, which does nothing where it is.
const flies = 5 * time.Second

func (d *desk) init() {
	d.more, d.sites, d.closed = sync.NewCond(&d.mu), map[string]*known{}, true
}

func (d *desk) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = false
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.more.Broadcast()
}

// of is what is known of a site.
func (d *desk) of(site string) *known {
	k := d.sites[site]
	if k == nil {
		k = &known{flying: map[string]flight{}}
		d.sites[site] = k
	}
	return k
}

// ask puts a site in the line, with its mark where that was read.
func (d *desk) ask(site string, m *mark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	k := d.of(site)
	if m != nil {
		k.mark = m
	}
	switch {
	case k.busy:
		k.again = true
	case !k.waits:
		k.waits = true
		d.line = append(d.line, site)
		d.more.Signal()
	}
}

// askDue puts the sites in the line whose next job is due.
func (d *desk) askDue(now time.Time) {
	d.mu.Lock()
	var due []string
	for site, k := range d.sites {
		if !k.next.IsZero() && !k.next.After(now) {
			due = append(due, site)
		}
	}
	d.mu.Unlock()
	for _, site := range due {
		d.ask(site, nil)
	}
}

// take waits for a site that is to be looked at; ok is false when the desk is closed.
func (d *desk) take() (site string, m *mark, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.line) == 0 && !d.closed {
		d.more.Wait()
	}
	if d.closed {
		return "", nil, false
	}
	site, d.line = d.line[0], d.line[1:]
	k := d.sites[site]
	k.waits, k.busy = false, true
	m, k.mark = k.mark, nil
	return site, m, true
}

// finding is what a look at a site has found.
type finding struct {
	hold         func() // releases the site
	keep         bool   // it has jobs that are due
	next, oldest time.Time
}

// done ends a look. The site is held open while it has jobs that are due.
func (d *desk) done(site string, f finding) {
	d.mu.Lock()
	k := d.sites[site]
	before := k.release
	k.release, k.busy, k.next, k.oldest = nil, false, f.next, f.oldest
	if f.keep && !d.closed {
		k.release, f.hold = f.hold, nil
	}
	if !f.keep {
		k.waiting = 0
		clear(k.flying) // what runs is due until it has ended
	}
	again := k.again
	k.again = false
	if !again && k.mark == nil && k.release == nil && k.next.IsZero() && len(k.flying) == 0 {
		delete(d.sites, site)
	}
	d.mu.Unlock()
	for _, release := range []func(){before, f.hold} {
		if release != nil {
			release()
		}
	}
	if again {
		d.ask(site, nil)
	}
}

// fresh are those of the tickets that river does not have, as far as is known, which it
// has from now on.
func (d *desk) fresh(site string, list []ticket, now time.Time) (fresh []ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.sites[site]
	kept := make(map[string]flight, len(list))
	for _, t := range list {
		f, known := k.flying[t.Job]
		if !known || f.turn != t.Turn || now.Sub(f.at) > flies {
			f = flight{t.Turn, now}
			fresh = append(fresh, t)
		}
		kept[t.Job] = f
	}
	k.flying = kept // the others have ended
	return fresh
}

// crashed forgets tickets that could not be handed over.
func (d *desk) crashed(site string, list []ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range list {
		delete(d.sites[site].flying, t.Job)
	}
}

// landed notes that a ticket has run, and has its site looked at for the next.
func (d *desk) landed(site, job string) {
	d.mu.Lock()
	if k := d.sites[site]; k != nil {
		delete(k.flying, job)
	}
	d.mu.Unlock()
	d.ask(site, nil)
}

// releaseAll lets go of every site.
func (d *desk) releaseAll() {
	d.mu.Lock()
	var all []func()
	for _, k := range d.sites {
		if k.release != nil {
			all = append(all, k.release)
			k.release = nil
		}
	}
	d.mu.Unlock()
	for _, release := range all {
		release()
	}
}

// countFor is how long a count of a site's jobs is shown.
const countFor = 5 * time.Second

// counts reports whether the jobs of a site are to be counted again.
func (d *desk) counts(site string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.sites[site]
	if now.Sub(k.at) < countFor {
		return false
	}
	k.at = now
	return true
}

func (d *desk) counted(site string, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sites[site].waiting = n
}

// load is how long the job has been due that is due longest, and how many wait.
func (d *desk) load(now time.Time) (longest time.Duration, waiting int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.sites {
		waiting += k.waiting
		if !k.oldest.IsZero() {
			longest = max(longest, now.Sub(k.oldest))
		}
	}
	return longest, waiting
}
