package tenant

import (
	"context"
	"errors"
	"fmt"
)

// closers closes what was opened, the last first.
type closers []closer

type closer struct {
	what  string
	close func() error
}

func (c *closers) add(what string, end func() error) { *c = append(*c, closer{what, end}) }

func (c closers) close() (err error) {
	for i := len(c) - 1; i >= 0; i-- {
		if failed := c[i].close(); failed != nil {
			err = errors.Join(err, fmt.Errorf("close %s: %w", c[i].what, failed))
		}
	}
	return err
}

// run runs work in the background until it is closed, which waits for it.
func (c *closers) run(what string, work func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	c.add(what, func() error { stop(); <-done; return nil })
}
