package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Bell tells the processes that share a PostgreSQL database, within milliseconds, which
// schemas have changes to look at (Store.OnChange). It has one connection to each
// database, opened when somebody first listens or has something to tell: no request
// waits for it, and no transaction of a request has a NOTIFY in it, which would have
// all commits of the server wait for each other. What it tells is a hint: who does not
// hear it, behind a pooler or after a loss of the connection, finds out by looking.
type Bell struct {
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	ropes map[string]*rope // by URL
}

// rope is the bell of one database.
type rope struct {
	bell   *Bell
	server *postgresServer
	ring   chan struct{} // something is in rung

	mu     sync.Mutex
	rung   map[string]bool           // schemas to tell of
	hears  map[string]map[int]func() // by schema
	number int
}

// bellChannel is the name of the channel; what is sent is the name of a schema.
const bellChannel = "armature_changes"

// How long a bell waits: before it connects again, and for what it sends.
const (
	bellAgain = time.Second
	bellSend  = 5 * time.Second
	// bellRest is how long it gathers what it has to send.
	bellRest = 3 * time.Millisecond
)

// NewBell makes a bell, which nobody has rung yet. Whoever makes it closes it.
func NewBell(log *slog.Logger) *Bell {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	b := &Bell{log: log, ropes: map[string]*rope{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Close ends the connections.
func (b *Bell) Close() {
	if b == nil {
		return
	}
	b.cancel()
	b.work.Wait()
}

// of returns the rope of a database.
func (b *Bell) of(server *postgresServer) *rope {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.ropes[server.dsn]
	if r == nil && b.ctx.Err() == nil {
		r = &rope{bell: b, server: server, ring: make(chan struct{}, 1), rung: map[string]bool{}, hears: map[string]map[int]func(){}}
		b.ropes[server.dsn] = r
		b.work.Go(r.run)
	}
	return r
}

// tell has all processes look at a schema.
func (r *rope) tell(schema string) {
	r.mu.Lock()
	r.rung[schema] = true
	r.mu.Unlock()
	select {
	case r.ring <- struct{}{}:
	default:
	}
}

// hear has fn called when a schema has changes, until cancel.
func (r *rope) hear(schema string, fn func()) (cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	id := r.number
	if r.hears[schema] == nil {
		r.hears[schema] = map[int]func(){}
	}
	r.hears[schema][id] = fn
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.hears[schema], id); len(r.hears[schema]) == 0 {
			delete(r.hears, schema)
		}
	}
}

// heard calls those who listen to a schema.
func (r *rope) heard(schema string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fn := range r.hears[schema] {
		fn()
	}
}

// run keeps the connection until the bell is closed.
func (r *rope) run() {
	failing := false
	for r.bell.ctx.Err() == nil {
		err := r.serve()
		if r.bell.ctx.Err() != nil {
			return
		}
		if !failing && err != nil {
			r.bell.log.Warn("changes are not told to other processes now, which find them by looking", slog.Any("error", err))
		}
		failing = err != nil
		select {
		case <-r.bell.ctx.Done():
		case <-time.After(bellAgain):
		}
	}
}

// serve listens and tells over one connection, until it is lost.
func (r *rope) serve() (err error) {
	ctx := r.bell.ctx
	config := r.server.config.Copy()
	config.RuntimeParams["application_name"] = "armature changes"
	delete(config.RuntimeParams, searchPath)
	if err := r.server.renew(ctx, config); err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(ending) // the server notices that it is gone
	}()
	if _, err := c.Exec(ctx, "LISTEN "+bellChannel); err != nil {
		return err
	}
	for {
		if err := r.wait(ctx, c); err != nil {
			return err
		}
		if err := r.send(ctx, c); err != nil {
			return err
		}
	}
}

// wait waits for something to hear or to tell.
func (r *rope) wait(ctx context.Context, c *pgx.Conn) error {
	waiting, stop := context.WithCancel(ctx)
	rung := make(chan struct{})
	go func() {
		defer close(rung)
		select {
		case <-r.ring:
			stop()
		case <-waiting.Done():
		}
	}()
	n, err := c.WaitForNotification(waiting)
	woken := waiting.Err() != nil && ctx.Err() == nil
	stop()
	<-rung
	switch {
	case n != nil:
		r.heard(n.Payload)
		return nil
	case woken && !c.IsClosed():
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case pgconn.Timeout(err) && !c.IsClosed():
		return nil
	case err == nil:
		return errors.New("store: the connection told nothing")
	}
	return err
}

// send tells what was rung, each schema once.
func (r *rope) send(ctx context.Context, c *pgx.Conn) error {
	r.mu.Lock()
	some := len(r.rung) > 0
	r.mu.Unlock()
	if !some {
		return nil
	}
	select {
	case <-time.After(bellRest):
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	rung := r.rung
	r.rung = map[string]bool{}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, bellSend)
	defer cancel()
	for schema := range rung {
		if _, err := c.Exec(ctx, "SELECT pg_notify($1, $2)", bellChannel, schema); err != nil {
			return err
		}
	}
	return nil
}
