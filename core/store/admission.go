package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"armature/core/fair"
	"armature/core/fault"
)

// admission hands out turns to write: one to a SQLite file, as many as there are
// connections for it to PostgreSQL. Who promises to run no code of plugins (a
// login, a token, a save without handlers) goes first, in the order of coming; where
// several sites share the turns, one site after the other.
// Transactions in which guests run come after those, one party of them after the
// other: a plugin that is called sixteen times at once has one call in the line,
// and the others wait behind it.
//
// Neither side starves. After maxPassed turns that went past a waiting guest, it
// is the guest's. Where there is one turn, a guest that kept it for long is
// followed by a pause for guests, so that what needs several transactions, as a
// login does, does not wait for a guest before each.
type admission struct {
	wait  time.Duration // how long anybody waits who does not say
	rests bool          // guests pause after one that kept its turn for long

	mu      sync.Mutex
	free    int     // turns that nobody has
	spare   int     // turns that guests may still take
	first   parties // by site, where there are several
	guests  parties
	passed  int
	until   time.Time // guests pause
	restart *time.Timer
	since   time.Time // when the latest guest got its turn; of use where there is one
}

const (
	// maxPassed is how many turns may go past a guest that waits.
	maxPassed = 8
	// maxWaiting bounds the calls of one party that wait.
	maxWaiting = 128
	// longTurn is how long a guest may keep the one turn without a pause after it,
	// and maxPause the longest pause.
	longTurn = 50 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// newLine makes a line of so many turns, of which guests take at most three
// quarters where there are several.
func newAdmission(turns int, wait time.Duration) *admission {
	return &admission{wait: wait, rests: turns == 1, free: turns, spare: max(1, turns*3/4),
		first:  parties{of: func(j *job) string { return j.site }, waiting: map[string][]*job{}},
		guests: parties{of: func(j *job) string { return j.party }, most: maxWaiting, waiting: map[string][]*job{}},
	}
}

// acquire waits until the job has a turn, or is done because another has run it.
func (l *admission) acquire(j *job) error {
	l.mu.Lock()
	if l.takes(j) {
		l.take(j)
		l.mu.Unlock()
		return nil
	}
	j.turn = make(chan struct{})
	if j.party == "" {
		l.first.push(j)
	} else if !l.guests.push(j) {
		l.mu.Unlock()
		return errCrowded(j.party)
	}
	l.hand() // a turn may be free, but not yet for guests
	l.mu.Unlock()
	return l.await(j)
}

func (l *admission) await(j *job) error {
	wait := l.wait
	if j.wait > 0 {
		wait = j.wait
	}
	defer fair.Pause(j.ctx).Resume(j.ctx)
	patience := time.NewTimer(wait)
	defer patience.Stop()
	var err error
	select {
	case <-j.turn:
		return nil
	case <-j.ctx.Done():
		err = j.ctx.Err()
	case <-patience.C:
		err = errBusy()
	}
	if l.leave(j) {
		return err
	}
	<-j.turn // its turn has come; it cannot be given back
	return nil
}

// takes reports whether a job that comes now needs not wait.
func (l *admission) takes(j *job) bool {
	if l.free == 0 || l.first.count > 0 {
		return false
	}
	return j.party == "" || l.guests.count == 0 && l.open()
}

// open reports whether guests may take turns.
func (l *admission) open() bool { return l.spare > 0 && !time.Now().Before(l.until) }

func (l *admission) take(j *job) {
	l.free--
	if j.party != "" {
		l.spare--
		l.passed = 0
		l.since = time.Now()
	}
}

// leave takes a job out of the line, unless its turn has come.
func (l *admission) leave(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.party != "" {
		return l.guests.remove(j)
	}
	return l.first.remove(j)
}

// release gives back the turn of a party; "": of one that ran no guests.
func (l *admission) release(party string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free++
	if party != "" {
		l.spare++
		if kept := time.Since(l.since); l.rests && kept > longTurn {
			l.until = time.Now().Add(min(kept, maxPause))
		}
	}
	l.hand()
}

// hand gives the free turns to those who are next.
func (l *admission) hand() {
	for l.free > 0 {
		ready := l.guests.count > 0 && l.open()
		var j *job
		switch {
		case l.first.count > 0 && !(ready && l.passed >= maxPassed):
			j = l.first.pop()
			if l.guests.count > 0 {
				l.passed++
			}
		case ready:
			j = l.guests.pop()
		default:
			l.resume()
			return
		}
		l.take(j)
		close(j.turn)
	}
}

// resume has the guests that wait come in when their pause is over.
func (l *admission) resume() {
	left := time.Until(l.until)
	if l.guests.count == 0 || left <= 0 {
		return
	}
	if l.restart != nil {
		l.restart.Stop()
	}
	l.restart = time.AfterFunc(left, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.hand()
	})
}

// close stops the clock; nobody waits any more.
func (l *admission) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.restart != nil {
		l.restart.Stop()
	}
}

// parties are those that wait: of each party the calls in the order in which they
// came, and the parties in the order of their turns.
type parties struct {
	of      func(*job) string // whose a call is
	most    int               // calls of a party; 0: any number
	order   []string
	waiting map[string][]*job
	count   int
}

// push reports whether there is room for another call of the party.
func (p *parties) push(j *job) bool {
	party := p.of(j)
	calls := p.waiting[party]
	if p.most > 0 && len(calls) >= p.most {
		return false
	}
	if len(calls) == 0 {
		p.order = append(p.order, party)
	}
	p.waiting[party] = append(calls, j)
	p.count++
	return true
}

// peek is the call that pop would take.
func (p *parties) peek() *job { return p.waiting[p.order[0]][0] }

// pop takes the first call of the party whose turn it is, which goes to the end.
func (p *parties) pop() *job {
	party := p.order[0]
	p.order = slices.Delete(p.order, 0, 1)
	calls := p.waiting[party]
	j := calls[0]
	p.keep(party, slices.Delete(calls, 0, 1))
	if len(calls) > 1 {
		p.order = append(p.order, party)
	}
	p.count--
	return j
}

func (p *parties) remove(j *job) bool {
	party := p.of(j)
	calls := p.waiting[party]
	i := slices.Index(calls, j)
	if i < 0 {
		return false
	}
	if len(calls) == 1 {
		at := slices.Index(p.order, party)
		p.order = slices.Delete(p.order, at, at+1)
	}
	p.keep(party, slices.Delete(calls, i, i+1))
	p.count--
	return true
}

func (p *parties) keep(party string, calls []*job) {
	if len(calls) == 0 {
		delete(p.waiting, party)
		return
	}
	p.waiting[party] = calls
}

// errCrowded refuses a call that would be one too many to wait.
func errCrowded(party string) error {
	return fault.New(fault.Unavailable, "", "%d calls of %s wait to write already; try again", maxWaiting, party)
}

// turnFor waits for the turn of a transaction, which release ends; for as long as
// the line says where wait is 0.
func (l *admission) turnFor(ctx context.Context, party string, wait time.Duration) error {
	return l.acquire(&job{ctx: ctx, party: party, wait: wait})
}
