package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"modernc.org/sqlite"
)

// errPoolClosed answers a connection that is asked for too late.
var errPoolClosed = errors.New("store: the pool of connections is closed")

// sqlitePool is a pool of connections to a file, of which none is left once it
// is closed. That of database/sql opens connections in a goroutine of its own,
// and its Close waits neither for one that is being opened nor for one that was
// opened and not yet handed out: a moment later it makes the log and the index
// of a file again whose folder was to be removed.
type sqlitePool struct {
	*sql.DB
	connections *awaitedConnector
}

func openSQLitePool(dsn string) (*sqlitePool, error) {
	plain, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	c := &awaitedConnector{Connector: plain}
	return &sqlitePool{sql.OpenDB(c), c}, nil
}

// Close closes the pool and comes back when its last connection is closed. All
// that were taken from it must have been given back.
func (p *sqlitePool) Close() error {
	p.connections.refuse()
	err := p.DB.Close()
	p.connections.open.Wait()
	return err
}

// awaitedConnector knows how many connections are open or being opened.
type awaitedConnector struct {
	driver.Connector
	mu     sync.Mutex
	closed bool
	open   sync.WaitGroup
}

func (c *awaitedConnector) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// Connect implements driver.Connector.
func (c *awaitedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, errPoolClosed
	}
	c.open.Add(1)
	c.mu.Unlock()
	plain, err := c.Connector.Connect(ctx)
	if err != nil {
		c.open.Done()
		return nil, err
	}
	able, ok := plain.(sqliteConn)
	if !ok {
		err := errors.New("store: the driver of SQLite lacks what database/sql can use")
		c.open.Done()
		return nil, errors.Join(err, plain.Close())
	}
	return &awaitedConn{sqliteConn: able, end: sync.OnceFunc(c.open.Done)}, nil
}

// sqliteConn is all that database/sql asks of a connection where it can.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// awaitedConn tells when it is closed.
type awaitedConn struct {
	sqliteConn
	end func()
}

// Close implements driver.Conn.
func (c *awaitedConn) Close() error {
	defer c.end()
	return c.sqliteConn.Close()
}
