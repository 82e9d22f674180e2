package ratelimit

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ulule/limiter/v3"
)

// CallLimit is so many calls in a period that begins with the first of them.
type CallLimit struct {
	Limit  int64
	Period time.Duration // at least a second
}

// callLimit is a call limit of a configuration: whose calls are counted, and
// which.
type callLimit struct {
	CallLimit
	ip, user bool
	argument string   // name; empty: none
	verbs    []string // nil: all
}

// Count counts one call of what, a method's dotted path, by those the parts name
// (an address, a user, the value of an argument), and refuses the one after the
// limit with a RateLimitExceededError. Refused calls count too, but do not
// lengthen the period.
func (l *Limiter) Count(ctx context.Context, limit CallLimit, what string, by ...string) error {
	key := []byte(l.site.Name + "|calls|" + what + "|")
	key = strconv.AppendInt(key, limit.Period.Microseconds(), 10)
	key = append(key, '|')
	for _, part := range by {
		key = append(key, subject(part)...)
	}
	now := time.Now()
	c := l.counters.call(ctx, string(key), limiter.Rate{Period: limit.Period, Limit: limit.Limit})
	if !c.Reached {
		return nil
	}
	return refused("There were too many calls", &Refusal{Retry: wait(now, c.Reset, limit.Period)})
}

// wait is the whole seconds until a period ends. The end is known in seconds cut
// off, so it may be a second later.
func wait(now time.Time, end int64, period time.Duration) time.Duration {
	d := time.Unix(end+1, 0).Sub(now)
	d = min(d, period)
	return max((d + time.Second - 1).Truncate(time.Second), time.Second)
}

// countCall counts a call by whom the configuration says.
func (d *Decision) countCall(ctx context.Context, h http.Header, s Subject) error {
	c, ok := d.plan.calls.find(s.Method)
	if !ok || c.verbs != nil && !slices.Contains(c.verbs, s.Verb) {
		return nil
	}
	var by []string
	if c.ip {
		by = append(by, network(s.IP))
	}
	if c.user {
		by = append(by, s.userSubject())
	}
	if c.argument != "" {
		by = append(by, s.argument(c.argument))
	}
	if err := d.limiter.Count(ctx, c.CallLimit, s.Method, by...); err != nil {
		return d.refuse(h, err)
	}
	return nil
}
