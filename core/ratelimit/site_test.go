package ratelimit_test

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/ratelimit"
	"armature/core/site"
)

// clock is a clock that tests set.
type clock struct{ now atomic.Int64 }

func newClock(t time.Time) *clock {
	c := &clock{}
	c.set(t)
	return c
}

func (c *clock) set(t time.Time)               { c.now.Store(t.UnixNano()) }
func (c *clock) Now() time.Time                { return time.Unix(0, c.now.Load()) }
func (c *clock) add(d time.Duration) time.Time { return time.Unix(0, c.now.Add(int64(d))) }

func mustTime(t testing.TB, zone, s string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05", s, loc)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func parse(t testing.TB, text string) *site.Config {
	t.Helper()
	c, err := site.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := ratelimit.Check(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func newSite(t testing.TB, name, config string, c *clock) *site.Site {
	t.Helper()
	s, err := site.New(site.Options{Name: name, Config: parse(t, config), Clock: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newCounters(t testing.TB, o ratelimit.Options) *ratelimit.Counters {
	t.Helper()
	c, err := ratelimit.NewCounters(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// newLimiter makes the limiter of a site that counts in memory.
func newLimiter(t testing.TB, config string, c *clock) *ratelimit.Limiter {
	t.Helper()
	return ratelimit.New(newSite(t, "one", config, c), newCounters(t, ratelimit.Options{}), nil)
}

// number reads a header that must be a number.
func number(t testing.TB, h http.Header, name string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(h.Get(name), 10, 64)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return n
}

// request is a whole request that arrives at a time and takes another; it returns
// what the headers of its answer say.
func request(t testing.TB, l *ratelimit.Limiter, at time.Time, used time.Duration) http.Header {
	t.Helper()
	h := make(http.Header)
	d, err := l.Begin(t.Context(), h, at)
	if err != nil {
		d.End(t.Context(), h, http.StatusTooManyRequests, used)
		return h
	}
	d.End(t.Context(), h, http.StatusOK, used)
	return h
}

// counted is what is on the site's counter at a time.
func counted(t testing.TB, l *ratelimit.Limiter, at time.Time) int64 {
	t.Helper()
	h := make(http.Header)
	if _, err := l.Begin(t.Context(), h, at); err != nil {
		t.Error(err)
	}
	return number(t, h, "X-RateLimit-Limit") - number(t, h, "X-RateLimit-Remaining")
}
