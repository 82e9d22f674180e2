package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainFor is how long answers are waited for after the input has ended: longer than a
// tool takes that builds a plugin.
const drainFor = 5 * time.Minute

// draining is a transport whose input ends when what was asked before is answered: an
// agent may close its end right after its last message.
type draining struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drained{Connection: c, closed: make(chan struct{}), idle: make(chan struct{})}, nil
}

type drained struct {
	sdk.Connection

	mu     sync.Mutex
	open   map[any]bool // requests that are not answered, by id
	ended  bool         // no more of them come
	idle   chan struct{}
	closed chan struct{}
	once   sync.Once
}

// Read implements sdk.Connection.
func (c *drained) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.wait(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.mu.Lock()
		if c.open == nil {
			c.open = map[any]bool{}
		}
		c.open[r.ID.Raw()] = true
		c.mu.Unlock()
	}
	return m, err
}

// Write implements sdk.Connection.
func (c *drained) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, r.ID.Raw())
		c.settle()
	}
	return err
}

// Close implements sdk.Connection.
func (c *drained) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// settle tells who waits that everything is answered. The lock is held.
func (c *drained) settle() {
	if c.ended && len(c.open) == 0 {
		close(c.idle)
		c.ended = false // nobody waits any more
	}
}

func (c *drained) wait(ctx context.Context) {
	c.mu.Lock()
	c.ended = true
	c.settle()
	c.mu.Unlock()
	limit := time.NewTimer(drainFor)
	defer limit.Stop()
	select {
	case <-c.idle:
	case <-c.closed:
	case <-ctx.Done():
	case <-limit.C:
	}
}
