package store

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"armature/core/doctype"
)

// claim is what transactions contend for: a document, or with no name all
// documents of a DocType.
type claim struct{ doctype, name string }

func claimOf(dt *doctype.DocType, name string) claim {
	if dt == nil {
		return claim{}
	}
	return claim{dt.Name, name}
}

func (c claim) whole() claim { return claim{doctype: c.doctype} }

func (c claim) compare(o claim) int {
	return cmp.Or(cmp.Compare(c.doctype, o.doctype), cmp.Compare(c.name, o.name))
}

// turnOf is the table that stands for a claim in the database, where the
// processes that share it meet.
func turnOf(c claim) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.doctype + "\x00" + c.name))
	return int(h.Sum32() % turnTables)
}

// Bounds of what is remembered of lost races.
const (
	maxHot    = 512         // claims over which somebody lost
	maxWants  = 8           // claims of one transaction
	hotFor    = time.Second // after the latest loss
	hotLosses = 2           // before others queue
)

// contention is what one process knows of races for its database: which
// documents are hot, and who queues for them. A transaction takes its turn
// before it has a snapshot; one that begins with what others lost over takes the
// turn that those took.
type contention struct {
	mu    sync.Mutex
	hot   map[claim]*heat
	lines map[claim]*line
}

// heat is about transactions that begin with one claim.
type heat struct {
	until  time.Time
	losses int
	wants  []claim // what they lost over
}

// line is a queue in this process, in front of the database's, where waiting
// takes no connection.
type line struct {
	free  chan struct{}
	users int
}

func newContention() *contention {
	return &contention{hot: map[claim]*heat{}, lines: map[claim]*line{}}
}

// lost notes that a transaction which began with first lost over the claims.
func (c *contention) lost(first claim, over []claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	h := c.hot[first]
	if h == nil || now.After(h.until) {
		c.prune(now)
		h = &heat{}
		c.hot[first] = h
	}
	h.until = now.Add(hotFor)
	h.losses++
	for _, one := range over {
		if !slices.Contains(h.wants, one) {
			h.wants = append(h.wants, one)
		}
	}
	if len(h.wants) > maxWants {
		h.wants = []claim{first.whole()}
	}
}

// prune makes room for one more.
func (c *contention) prune(now time.Time) {
	if len(c.hot) < maxHot {
		return
	}
	maps.DeleteFunc(c.hot, func(_ claim, h *heat) bool { return now.After(h.until) })
	for first := range c.hot {
		if len(c.hot) < maxHot {
			return
		}
		delete(c.hot, first)
	}
}

// wanted is what a transaction that begins with first has to queue for.
func (c *contention) wanted(first claim) []claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.hot) == 0 {
		return nil
	}
	now := time.Now()
	var all []claim
	for _, f := range []claim{first, first.whole()} {
		if h := c.hot[f]; h != nil && h.losses >= hotLosses && now.Before(h.until) {
			all = append(all, h.wants...)
		}
	}
	return all
}

// stillHot keeps first hot for as long as somebody has to queue.
func (c *contention) stillHot(first claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range []claim{first, first.whole()} {
		if h := c.hot[f]; h != nil {
			h.until = time.Now().Add(hotFor)
		}
	}
}

// queue waits until the claims are this transaction's alone within the process.
// Everybody takes them in one order. waited tells whether somebody else had one.
func (c *contention) queue(ctx context.Context, claims []claim) (leave func(), waited bool, err error) {
	var held []claim
	leave = func() {
		for _, one := range held {
			c.release(one)
		}
	}
	for _, one := range claims {
		had, err := c.take(ctx, one)
		waited = waited || had
		if err != nil {
			leave()
			return nil, waited, err
		}
		held = append(held, one)
	}
	return leave, waited, nil
}

func (c *contention) take(ctx context.Context, one claim) (waited bool, err error) {
	c.mu.Lock()
	l := c.lines[one]
	if l == nil {
		l = &line{free: make(chan struct{}, 1)}
		c.lines[one] = l
	}
	l.users++
	c.mu.Unlock()
	select {
	case l.free <- struct{}{}:
		return false, nil
	default:
	}
	select {
	case l.free <- struct{}{}:
		return true, nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forget(one, l)
		return true, ctx.Err()
	}
}

func (c *contention) release(one claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[one]
	<-l.free
	c.forget(one, l)
}

func (c *contention) forget(one claim, l *line) {
	if l.users--; l.users == 0 {
		delete(c.lines, one)
	}
}

// inOrder sorts claims and drops those that come twice.
func inOrder(claims []claim) []claim {
	slices.SortFunc(claims, claim.compare)
	return slices.Compact(claims)
}
