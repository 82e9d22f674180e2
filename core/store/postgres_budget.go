package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
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
// Only half of them may be in transactions. Code inside a transaction may need
// another connection, and would wait for ever if transactions had them all.
type Budget struct {
	most  int
	turns *admission // transactions

	mu      sync.Mutex
	open    int
	waiting []chan struct{}
	pools   map[*sql.DB]int // and how many idle connections each may keep
}

// MinBudget is the least a Budget may be.
const MinBudget = 4

// NewBudget makes a budget of so many connections; less than MinBudget is
// MinBudget.
func NewBudget(conns int) *Budget {
	conns = max(conns, MinBudget)
	return &Budget{most: conns, turns: newAdmission(conns/2, 0), pools: map[*sql.DB]int{}}
}

// reclaimEvery is how often whoever waits looks for connections that have become
// idle unnoticed.
const reclaimEvery = 20 * time.Millisecond

// take waits until a connection may be opened.
func (b *Budget) take(ctx context.Context, patience time.Duration) error {
	b.mu.Lock()
	if b.open < b.most {
		b.open++
		b.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	b.waiting = append(b.waiting, turn)
	b.mu.Unlock()

	end := time.NewTimer(patience)
	defer end.Stop()
	again := time.NewTicker(reclaimEvery)
	defer again.Stop()
	var err error
	for err == nil {
		b.reclaim()
		select {
		case <-turn:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-end.C:
			err = fault.New(fault.Unavailable, "", "All connections to the database are in use; try again")
		case <-again.C:
		}
	}
	if !b.leave(turn) {
		b.give() // it came at the last moment
	}
	return err
}

// leave takes somebody out of the queue, unless it has got its turn.
func (b *Budget) leave(turn chan struct{}) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		if w == turn {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// give hands a closed connection's place on.
func (b *Budget) give() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 {
		close(b.waiting[0])
		b.waiting = b.waiting[1:]
		return
	}
	b.open--
}

// pressed reports whether somebody waits.
func (b *Budget) pressed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// reclaim closes the idle connections of one pool that has some.
func (b *Budget) reclaim() {
	b.mu.Lock()
	var found *sql.DB
	keep := 0
	for db, idle := range b.pools {
		if db.Stats().Idle > 0 {
			found, keep = db, idle
			break
		}
	}
	b.mu.Unlock()
	if found != nil {
		found.SetMaxIdleConns(-1) // closes them
		found.SetMaxIdleConns(keep)
	}
}

// openPool opens a pool whose connections count.
func (b *Budget) openPool(connector driver.Connector, conns int, patience time.Duration) *sql.DB {
	db := sql.OpenDB(budgeted{connector, b, patience})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools[db] = conns
	return db
}

// forget is for a pool that is closed.
func (b *Budget) forget(db *sql.DB) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pools, db)
}

// budgeted opens connections within a budget.
type budgeted struct {
	driver.Connector
	b        *Budget
	patience time.Duration
}

func (c budgeted) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.b.take(ctx, c.patience); err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		c.b.give()
		return nil, err
	}
	return &countedConn{Conn: conn.(*stdlib.Conn), b: c.b}, nil
}

// countedConn is a connection that has a place in a budget.
type countedConn struct {
	*stdlib.Conn
	b    *Budget
	once sync.Once
}

// Close implements driver.Conn.
func (c *countedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.b.give)
	return err
}

// IsValid implements driver.Validator, which a pool asks before it keeps a
// connection: it does not when somebody else waits for one.
func (c *countedConn) IsValid() bool { return !c.b.pressed() }
