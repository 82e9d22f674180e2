package ratelimit

import (
	"context"
	"log/slog"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// sweepEvery is how often counters of the past are thrown away.
const sweepEvery = time.Minute

// Counters holds the counters of all sites of a process. It may be used by many
// goroutines.
type Counters struct {
	own    limiter.Store // what this process has counted
	shared *shared       // what all have; nil: this process is the only one
}

// Options is what Counters are made of.
type Options struct {
	// Redis is the URL (redis://...) of the server that several processes count
	// in; empty: this process is the only one. Its query may set what go-redis
	// reads there (read_timeout, pool_size, ...).
	Redis string
	// Prefix is what keys in Redis begin with; empty: "armature:limit". Two
	// installations on one Redis need two.
	Prefix string
	Logger *slog.Logger // nil: nothing is logged
}

// Local makes counters for a process that is the only one.
func Local() *Counters {
	return &Counters{own: memory.NewStoreWithOptions(limiter.StoreOptions{CleanUpInterval: sweepEvery})}
}

// NewCounters makes counters. A Redis that does not answer is no error: it is
// away, and looked for until it is there. A URL that cannot be understood is.
func NewCounters(o Options) (*Counters, error) {
	c := Local()
	if o.Redis == "" {
		return c, nil
	}
	var err error
	if c.shared, err = newShared(o); err != nil {
		return nil, err
	}
	return c, nil
}

// Close lets go of Redis. Requests that are still running count in memory. It
// may be called again.
func (c *Counters) Close() error {
	if c.shared == nil {
		return nil
	}
	return c.shared.close()
}

// Away reports whether there is a Redis and it does not answer.
func (c *Counters) Away() bool { return c.shared != nil && c.shared.store.Load() == nil }

// used is what is on a counter. A Redis that has lost its memory, or was away,
// knows less than this process does; so the larger number is nearer the truth.
func (c *Counters) used(ctx context.Context, key string, rate limiter.Rate) int64 {
	var n int64
	if own, err := c.own.Peek(ctx, key, rate); err == nil {
		n = rate.Limit - own.Remaining
	}
	if c.shared != nil {
		n = max(n, c.shared.used(ctx, key, rate))
	}
	return n
}

// charge adds to a counter.
func (c *Counters) charge(ctx context.Context, key string, n int64, rate limiter.Rate) {
	// The memory store has no errors of its own, and a counter at the limit of
	// 2^53 is read as full, which it is.
	_, _ = c.own.Increment(ctx, key, n, rate)
	if c.shared != nil {
		c.shared.charge(ctx, key, n, rate)
	}
}

// call counts one call, in the window that the first of them began. Windows of
// different processes do not begin together, so this process's own decides only
// while Redis is away.
func (c *Counters) call(ctx context.Context, key string, rate limiter.Rate) limiter.Context {
	own, _ := c.own.Get(ctx, key, rate)
	if c.shared != nil {
		if all, ok := c.shared.call(ctx, key, rate); ok {
			return all
		}
	}
	return own
}
