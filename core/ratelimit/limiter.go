package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/site"
)

// Limiter meters one site. It may be used by many goroutines, holds nothing that
// needs closing, and is bound to the site's current configuration: a change
// applies to the next request.
type Limiter struct {
	site     *site.Site
	counters *Counters
	log      *slog.Logger

	planned atomic.Pointer[planned]
	mu      sync.Mutex // held while a plan is made
}

// New makes the limiter of a site. logger may be nil.
func New(s *site.Site, counters *Counters, logger *slog.Logger) *Limiter {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Limiter{site: s, counters: counters, log: logger}
}

// planned is a plan and what it was made from.
type planned struct {
	config *site.Config
	plan   *plan
}

// plan returns what the configuration of now says. A configuration is an
// immutable value, so the same pointer means the same plan.
func (l *Limiter) plan() *plan {
	config := l.site.Config()
	if p := l.planned.Load(); p != nil && p.config == config {
		return p.plan
	}
	return l.replan(config)
}

// replan makes the plan of a new configuration. Counters are found by their keys,
// so budgets that did not change go on where they were. A configuration that is
// wrong, which Check would have refused, leaves the old plan in use.
func (l *Limiter) replan(config *site.Config) *plan {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.planned.Load()
	if last != nil && last.config == config {
		return last.plan
	}
	p, err := newPlan(l.site.Name, config)
	if err != nil {
		l.log.Error("rate limits stay as they were", "site", l.site.Name, "error", err)
		if p = (&plan{}); last != nil {
			p = last.plan
		}
	}
	l.planned.Store(&planned{config, p})
	return p
}

// standing is how a subject stands in a span of a budget.
type standing struct {
	budget    *budget
	charge    charge
	remaining int64 // microseconds
	reset     int64 // seconds
}

// charge is where time is put.
type charge struct {
	key    string
	budget *budget
}

// look reads the counter of a subject; the subject is empty where there is one
// counter for all.
func (l *Limiter) look(ctx context.Context, b *budget, subject string, now time.Time) standing {
	s := b.at(now)
	c := charge{key: s.key, budget: b}
	if subject != "" {
		c.key += subject
	}
	used := l.counters.used(ctx, c.key, b.rate)
	return standing{budget: b, charge: c, remaining: max(0, b.limit-used), reset: s.reset(now)}
}

func (l *Limiter) put(ctx context.Context, c charge, n int64) {
	if n > 0 {
		l.counters.charge(ctx, c.key, n, c.budget.rate)
	}
}
