package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"armature/core/fault"
)

// Budget bounds the connections to PostgreSQL that many Stores have open
// together: the pools of a hundred sites would each be modest and together take
// more than the server has. Whoever needs one when all are open gets the next
// that any pool does not need; idle ones are closed for it.
//
// A site that uses all it can get keeps no other from its share: what is given back
// goes to the site that has the fewest, and a site with fewer than those who wait
// keeps what it has.
//
// Only half of them may be in transactions. Code inside a transaction may need
// another connection, and would wait for ever if transactions had them all.
type Budget struct {
	most  int
	turns *admission // transactions

	mu      sync.Mutex
	open    int
	waiting []*seeker
	pools   map[*sql.DB]budgetPool
	holders map[string]*holder // by schema
}

// holder is a site's part of a budget.
type holder struct {
	open int       // connections, or places for them
	used time.Time // when one was last given back to its pool
}

// seeker is somebody of a site who waits for a place.
type seeker struct {
	of    string
	since time.Time
	come  chan struct{} // closed with it
}

// budgetPool is one of the pools of a site.
type budgetPool struct {
	of   string
	idle int // connections that it may keep
}

// MinBudget is the least a Budget may be.
const MinBudget = 4

// NewBudget makes a budget of so many connections; less than MinBudget is
// MinBudget.
func NewBudget(conns int) *Budget {
	conns = max(conns, MinBudget)
	return &Budget{most: conns, turns: newAdmission(conns/2, 0), pools: map[*sql.DB]budgetPool{}, holders: map[string]*holder{}}
}

const (
	// reclaimEvery is how often whoever waits looks for connections that have become
	// idle unnoticed.
	reclaimEvery = 20 * time.Millisecond
	// unused is how long a site has used no connection whose idle ones go to any other.
	unused = time.Second
	// ownWait is how long a site waits before it closes a connection of one of its
	// pools for another one: opening them costs the server more than using them.
	ownWait = 100 * time.Millisecond
)

// take waits until a connection of a site may be opened.
func (b *Budget) take(ctx context.Context, of string, patience time.Duration) error {
	b.mu.Lock()
	if b.open < b.most {
		b.open++
		b.holder(of).open++
		b.mu.Unlock()
		return nil
	}
	c := &seeker{of: of, since: time.Now(), come: make(chan struct{})}
	b.waiting = append(b.waiting, c)
	b.mu.Unlock()

	end := time.NewTimer(patience)
	defer end.Stop()
	again := time.NewTicker(reclaimEvery)
	defer again.Stop()
	var err error
	for err == nil {
		b.reclaim(of)
		select {
		case <-c.come:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-end.C:
			err = fault.New(fault.Unavailable, "", "All connections to the database are in use; try again")
		case <-again.C:
		}
	}
	if !b.leave(c) {
		b.give(of) // it came at the last moment
	}
	return err
}

// holder is a site's part, which there is from its first connection on.
func (b *Budget) holder(of string) *holder {
	h := b.holders[of]
	if h == nil {
		h = &holder{}
		b.holders[of] = h
	}
	return h
}

// leave takes somebody out of the queue, unless it has got its turn.
func (b *Budget) leave(c *seeker) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, c)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	return i >= 0
}

// give hands the place of a site's closed connection on: to the site that has the
// fewest, and of those to who has waited longest.
func (b *Budget) give(of string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holder(of).open--
	b.dropUnused(of)
	if len(b.waiting) == 0 {
		b.open--
		return
	}
	next := 0
	for i, c := range b.waiting {
		if b.holder(c.of).open < b.holder(b.waiting[next].of).open {
			next = i
		}
	}
	c := b.waiting[next]
	b.waiting = slices.Delete(b.waiting, next, next+1)
	b.holder(c.of).open++
	close(c.come)
}

// yields reports whether a site lets a connection go that it has just used: for a
// site that waits and has no more than it, and for itself after a while.
func (b *Budget) yields(of string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.holder(of)
	own.used = time.Now()
	for _, c := range b.waiting {
		if c.of == of && own.used.Sub(c.since) >= ownWait || c.of != of && b.holder(c.of).open <= own.open {
			return true
		}
	}
	return false
}

// reclaim closes the idle connections of one pool that has some, for a site that
// waits: of the site that has most, but of none that has fewer and uses them.
func (b *Budget) reclaim(of string) {
	b.mu.Lock()
	var found *sql.DB
	most, keep := 0, 0
	for db, pool := range b.pools {
		h := b.holder(pool.of)
		if h.open < b.holder(of).open && time.Since(h.used) < unused || h.open <= most || db.Stats().Idle == 0 {
			continue
		}
		found, most, keep = db, h.open, pool.idle
	}
	b.mu.Unlock()
	if found != nil {
		found.SetMaxIdleConns(-1) // closes them
		found.SetMaxIdleConns(keep)
	}
}

// openPool opens a pool of a site, whose connections count.
func (b *Budget) openPool(connector driver.Connector, of string, conns int, patience time.Duration) *sql.DB {
	db := sql.OpenDB(budgeted{connector, b, of, patience})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools[db] = budgetPool{of, conns}
	return db
}

// forget is for a pool that is closed.
func (b *Budget) forget(db *sql.DB) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.pools[db].of
	delete(b.pools, db)
	b.dropUnused(of)
}

// dropUnused forgets a site without connections and pools.
func (b *Budget) dropUnused(of string) {
	if b.holder(of).open > 0 {
		return
	}
	for _, pool := range b.pools {
		if pool.of == of {
			return
		}
	}
	delete(b.holders, of)
}

// budgeted opens connections within a budget.
type budgeted struct {
	driver.Connector
	b        *Budget
	of       string // the site
	patience time.Duration
}

func (c budgeted) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.b.take(ctx, c.of, c.patience); err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		c.b.give(c.of)
		return nil, err
	}
	return &countedConn{Conn: conn.(*stdlib.Conn), b: c.b, of: c.of}, nil
}

// countedConn is a connection that has a place in a budget.
type countedConn struct {
	*stdlib.Conn
	b    *Budget
	of   string // the site
	once sync.Once
}

// Close implements driver.Conn.
func (c *countedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { c.b.give(c.of) })
	return err
}

// IsValid implements driver.Validator, which a pool asks before it keeps a
// connection.
func (c *countedConn) IsValid() bool { return !c.b.yields(c.of) }
