package account

import (
	"sync"
	"sync/atomic"
	"time"
)

// How much of the total each may hold at most, in eighths. A site that is alone may
// use most of it, and who comes then finds the rest.
const (
	siteEighths     = 6
	callEighths     = 4
	strangerEighths = 2 // all requests to a site that have shown no credentials
)

// How long who finds no memory waits for some, at most: a request, and the work of the
// process itself.
const (
	patience     = time.Second
	workPatience = 30 * time.Second
)

// pressureEvery is how often those are asked who can do without some of theirs.
const pressureEvery = 50 * time.Millisecond

// Account is the memory of a process. It is safe for concurrent use.
type Account struct {
	root      share
	kinds     [kinds]atomic.Int64
	waited    atomic.Int64
	refused   atomic.Int64
	peak      atomic.Int64
	waiting   atomic.Int64 // calls in the queues
	squeezed  atomic.Int64 // when those with spare memory were asked, Unix time in nanoseconds
	outside   func(bytes int64)
	outsideAt atomic.Int64 // bytes of which outside was last told

	mu    sync.Mutex
	sites map[string]*site
	spare []func() // who can do without some
}

// site is who shares memory among its own calls. One that was there once is kept:
// it is as small as its name.
type site struct {
	share
	strangers share
	queue     []*waiter
}

// New makes the account of so many bytes. outside, unless it is nil, is told how
// many bytes are held beside Go's heap, whenever that has changed by much; calls of
// it do not overlap.
func New(total int64, outside func(bytes int64)) *Account {
	a := &Account{sites: map[string]*site{}, outside: outside}
	a.root.most = total
	return a
}

// Total is how many bytes there are.
func (a *Account) Total() int64 { return a.root.most }

// Spare has fn called when memory is short: it is to give back what its owner can do
// without, and not to wait for anything.
func (a *Account) Spare(fn func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spare = append(a.spare, fn)
}

// Stats is how an account stands.
type Stats struct {
	Total, Peak     int64 // bytes; Peak: the most that were ever held
	Held            map[Kind]int64
	Waited, Refused int64 // charges that found no memory free, and of these the ones that got none
}

// Stats returns how the account stands.
func (a *Account) Stats() Stats {
	s := Stats{Total: a.root.most, Peak: a.peak.Load(), Held: map[Kind]int64{}, Waited: a.waited.Load(), Refused: a.refused.Load()}
	for k := range kinds {
		s.Held[k] = a.kinds[k].Load()
	}
	return s
}

// site returns the site of a name.
func (a *Account) site(name string) *site {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sites[name]
	if s == nil {
		s = &site{}
		s.most, s.strangers.most = a.part(siteEighths), a.part(strangerEighths)
		a.sites[name] = s
	}
	return s
}

func (a *Account) part(eighths int64) int64 { return a.root.most / 8 * eighths }

// note counts n more bytes, or fewer, of a kind.
func (a *Account) note(kind Kind, n int64) {
	a.kinds[kind].Add(n)
	if held := a.root.held.Load(); n > 0 && held > a.peak.Load() {
		a.peak.Store(held) // near enough: it is a figure for people
	}
	if kind.Outside() && a.outside != nil {
		a.tellOutside()
	}
}

// tellOutside tells what is held beside Go's heap when it has changed by a
// thirty-second of the total.
func (a *Account) tellOutside() {
	held := func() (n int64) {
		for k := range kinds {
			if k.Outside() {
				n += a.kinds[k].Load()
			}
		}
		return n
	}
	step := a.root.most / 32
	if d := held() - a.outsideAt.Load(); d < step && d > -step {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := held()
	a.outsideAt.Store(n)
	a.outside(n)
}

// squeeze asks those who can do without some memory for it; false when they have
// just been asked.
func (a *Account) squeeze() bool {
	now, before := time.Now().UnixNano(), a.squeezed.Load()
	if now-before < int64(pressureEvery) || !a.squeezed.CompareAndSwap(before, now) {
		return false
	}
	a.mu.Lock()
	spare := a.spare
	a.mu.Unlock()
	for _, fn := range spare {
		fn()
	}
	return len(spare) > 0
}
