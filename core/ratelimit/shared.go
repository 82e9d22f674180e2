package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/ulule/limiter/v3"
	driver "github.com/ulule/limiter/v3/drivers/store/redis"
)

const (
	// patience is how long a request waits for Redis before it does without. The
	// requests under way when Redis goes away wait once, those after them do not.
	patience = 250 * time.Millisecond

	firstProbe = 50 * time.Millisecond
	slowProbe  = 2 * time.Second
)

// shared is the counters in Redis, or nothing while Redis is away. It goes away
// with the first command that fails, and one goroutine then looks for it until
// it takes an increment again.
type shared struct {
	client *redis.Client
	prefix string
	log    *slog.Logger
	store  atomic.Pointer[limiter.Store] // nil while Redis is away

	stop   context.Context // ends with close
	cancel context.CancelFunc
	mu     sync.Mutex // held while a probe is started, and by close
	probes sync.WaitGroup
}

func newShared(o Options) (*shared, error) {
	options, err := redis.ParseURL(o.Redis)
	if err != nil {
		return nil, fmt.Errorf("address of Redis: %w", withoutURL(err))
	}
	tune(options)
	// go-redis writes a line of its own to standard error for every failed dial,
	// through the one logger it has for a process. That Redis is away is said once
	// and by us.
	logging.Disable()
	s := &shared{client: redis.NewClient(options), prefix: o.Prefix, log: o.Logger}
	if s.prefix == "" {
		s.prefix = "armature:limit"
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.stop, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.search(err)
	}
	return s, nil
}

// tune sets what the URL leaves open. Nothing is ever sent twice: an increment
// whose answer is late may have been counted.
func tune(o *redis.Options) {
	for _, t := range []*time.Duration{&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout} {
		if *t == 0 {
			*t = patience
		}
	}
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// withoutURL takes the URL, which may hold a password, out of an error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// open loads the scripts and counts once: a server that answers but takes no
// writes (a replica, one out of memory) is of no use.
func (s *shared) open() error {
	store, err := driver.NewStoreWithOptions(s.client, limiter.StoreOptions{Prefix: s.prefix})
	if err != nil {
		return err
	}
	if _, err := store.Increment(s.stop, "probe", 1, limiter.Rate{Period: time.Second, Limit: endless}); err != nil {
		return err
	}
	s.store.Store(&store)
	return nil
}

// lost takes the store out of use, if it still is in use.
func (s *shared) lost(store *limiter.Store, err error) {
	if s.store.CompareAndSwap(store, nil) {
		s.search(err)
	}
}

// search says that Redis is away and starts to look for it.
func (s *shared) search(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop.Err() != nil {
		return
	}
	s.log.Warn("Redis is away; each process counts rate limits for itself until it is back", "error", err)
	s.probes.Go(s.probe)
}

// probe returns when Redis is back, or with close.
func (s *shared) probe() {
	began, wait := time.Now(), firstProbe
	for {
		select {
		case <-s.stop.Done():
			return
		case <-time.After(wait):
		}
		if s.open() == nil {
			s.log.Info("Redis is back; rate limits are counted together again", "away", time.Since(began))
			return
		}
		wait = min(2*wait, slowProbe)
	}
}

// close ends the probe and the connections. Only the first does anything.
func (s *shared) close() error {
	s.mu.Lock()
	closed := s.stop.Err() != nil
	s.cancel()
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.store.Store(nil)
	err := s.client.Close() // a probe that waits for an answer fails at once
	s.probes.Wait()
	s.store.Store(nil) // a probe may just have succeeded
	return err
}

// used is what is on a counter; 0 when Redis is away.
func (s *shared) used(ctx context.Context, key string, rate limiter.Rate) int64 {
	c, ok := s.ask(ctx, func(ctx context.Context, store limiter.Store) (limiter.Context, error) {
		return store.Peek(ctx, key, rate)
	})
	if !ok {
		return 0
	}
	return rate.Limit - c.Remaining
}

func (s *shared) charge(ctx context.Context, key string, n int64, rate limiter.Rate) {
	s.ask(ctx, func(ctx context.Context, store limiter.Store) (limiter.Context, error) {
		return store.Increment(ctx, key, n, rate)
	})
}

// call counts one call; ok is false when Redis is away.
func (s *shared) call(ctx context.Context, key string, rate limiter.Rate) (c limiter.Context, ok bool) {
	return s.ask(ctx, func(ctx context.Context, store limiter.Store) (limiter.Context, error) {
		return store.Get(ctx, key, rate)
	})
}

// ask runs one command. The end of the request does not end it: a client that
// goes away would otherwise get its time for nothing, and make Redis look lost.
func (s *shared) ask(ctx context.Context, command func(context.Context, limiter.Store) (limiter.Context, error)) (c limiter.Context, ok bool) {
	store := s.store.Load()
	if store == nil {
		return c, false
	}
	c, err := command(context.WithoutCancel(ctx), *store)
	if err != nil {
		s.lost(store, err)
		return c, false
	}
	return c, true
}
